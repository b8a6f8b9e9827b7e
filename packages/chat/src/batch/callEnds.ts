/**
 * The runs of a batch's calls, and their ends: their outcomes, the events of those, and who waits for them.
 *
 * Owns: the queue of events that the reader pulls, the commands that wait, the handlers of restored calls, which wait until the calls are
 * restored, and the open requests of permission modes. Does not own the calls.
 */
import type { Clock, System } from "@troupe/otp"
import {
  endedEarly,
  type ToolCallView,
  type ToolOutcome,
  withArguments,
  withMetadata,
  type RunnableCall
} from "../call/index.ts"
import type { SessionError } from "../errors/index.ts"
import { QueueSource } from "../events/index.ts"
import { idempotencyKey, type Tool } from "../tool/index.ts"
import * as Usage from "../model/Usage.ts"
import type { ToolBatchInput, ToolBatchResult, BatchHost, CallState } from "./batchCalls.ts"
import { held, original } from "../values/index.ts"
import type { BatchGate } from "./batchGate.ts"
import { stillUnknown, type BatchCall } from "./batchCalls.ts"
import { ModeRequests } from "../gate/index.ts"

/** A command that waits until its calls are over, or have begun again. */
interface Waiter {
  readonly calls: Set<BatchCall>
  readonly until: "begun" | "over"
  readonly done: () => void
}

/** The batch that the calls belong to. */
export interface EndsOwner {
  /** A call has its outcome; it had a place until then. */
  readonly settled: (hadPlace: boolean) => void
  /** The reader has read past the last event. */
  readonly exhausted: () => void
}

export class CallEnds {
  readonly source: QueueSource
  /** Runs the hooks after a call. */
  gate: BatchGate | undefined
  readonly #host: BatchHost
  readonly #owner: EndsOwner
  readonly #input: ToolBatchInput
  readonly #clock: Clock.Clock
  readonly #queuedAt: number
  readonly #waiters = new Set<Waiter>()

  constructor(input: ToolBatchInput, host: BatchHost, clock: Clock.Clock, owner: EndsOwner) {
    this.#input = input
    this.#host = host
    this.#owner = owner
    this.#clock = clock
    this.#queuedAt = clock.now()
    this.source = new QueueSource(() => owner.exhausted())
  }

  /** Runs the hooks after a call, if there are any, before its outcome is recorded. */
  follow(call: BatchCall, outcome: ToolOutcome): void {
    call.mark = "following"
    if (this.gate?.follows(outcome) !== true) return this.settle(call, outcome)
    const { index } = call
    const { turn } = this.#host
    this.changed(call, { following: held(outcome) })
    void this.gate.follow(index, outcome).then((last) => turn(() => this.settle(call, last)))
  }

  /** The chart holds this state of a call. */
  changed({ index }: BatchCall, state: CallState): void {
    this.#host.send({ type: "call.changed", index, state })
  }

  /** Takes over the state of a call of a stored chart. */
  restore(call: BatchCall, { cancelled, end, following, outcome, child, unknown }: CallState): void {
    if (outcome !== undefined) return this.record(call, original(outcome))
    call.mark = cancelled === true ? "cancelling" : "running"
    if (child !== undefined || unknown !== undefined) {
      call.mark = "asking"
      call.suspended = { child, unknown }
    } else if (following !== undefined) this.follow(call, original(following))
    else if (cancelled === true && end === undefined)
      this.#host.send({ type: "call.command", index: call.index, command: "call.cancel" })
  }

  /** Records the outcome of a call; other calls may start. */
  settle(call: BatchCall, outcome: ToolOutcome): void {
    const hadPlace = call.hasStarted && call.mark !== "asking"
    this.record(call, outcome)
    this.#owner.settled(hadPlace)
  }

  /** Records the outcome of a call. */
  record(call: BatchCall, came: ToolOutcome): void {
    const { journal, options, calls } = this.#input
    const { storedMetadata, family } = options
    const ran = call.hasStarted && !checked.has(came.outcome)
    const ended = call.again && !ran ? stillUnknown(came, options) : came
    const written = withMetadata(call.edited ? withArguments(ended) : ended, storedMetadata?.ofMessage?.(undefined))
    const wished = call.wish === undefined ? written : { ...written, wish: call.wish }
    const ofChild = family?.spent(() => this.#keyOf(call))
    const childUsage = call.spent === undefined ? ofChild : Usage.add(call.spent, ofChild ?? Usage.empty)
    const outcome = childUsage === undefined ? wished : { ...wished, childUsage }
    call.over(outcome, this.#clock.now())
    if (outcome.halt !== undefined) calls.halts.push(call.index)
    if (call.mayHaveRun) journal?.over(calls.own.some(({ isOver }) => !isOver))
    this.source.push(...outcome.events)
    this.changed(call, { outcome: held(outcome), ...(outcome.halt !== undefined && { halted: calls.halts.length }) })
    this.reached(call, "over")
  }

  #keyOf({ toolCall, index, given: edited }: BatchCall): string {
    const { stepId, messageIndex, options } = this.#input
    const { requestId, sessionId } = options
    return idempotencyKey({ requestId, sessionId }, toolCall.id, { stepId, messageIndex, index, edited })
  }

  /** The outcome of a call that the library ended. */
  early({ toolCall }: BatchCall, ended: "cancelled" | "not_started", message?: string): ToolOutcome {
    return endedEarly(toolCall, ended, this.#input.options, message)
  }

  /** Calls `done` when the calls have reached this point. A call that is over has reached both points. */
  await(calls: ReadonlyArray<BatchCall>, until: "begun" | "over", done: () => void): void {
    this.#waiters.add({ calls: new Set(calls), until, done })
  }

  reached(call: BatchCall, point: "begun" | "over"): void {
    if (this.#waiters.size === 0) return
    for (const { calls, until } of this.#waiters) if (point === "over" || until === point) calls.delete(call)
    this.answer()
  }

  /** Calls `done` of each waiter without remaining calls. */
  answer(): void {
    for (const waiter of this.#waiters) {
      if (waiter.calls.size > 0) continue
      this.#waiters.delete(waiter)
      waiter.done()
    }
  }

  readonly view = (): ReadonlyArray<ToolCallView> => this.#input.calls.own.map((call) => call.view(this.#queuedAt))

  result(isCancelled: boolean, error: SessionError | undefined): ToolBatchResult {
    const { calls, options } = this.#input
    const halts = calls.haltsIn(options.haltOrder)
    const question = halts.find((one) => one.type === "question")
    return {
      outcomes: calls.own.flatMap(({ outcome }) => outcome ?? []),
      halt: isCancelled ? { type: "cancelled", question } : halts[0],
      suspended: calls.own.flatMap(({ suspended, index, given }) =>
        suspended === undefined
          ? []
          : [{ index, expiresMs: suspended.expiresMs, child: suspended.child, unknown: suspended.unknown, given }]
      ),
      error
    }
  }
}

/** The outcomes of a call whose process ended before its handler ran. */
const checked: ReadonlySet<string> = new Set(["invalid", "not_found", "not_started"])

/** The batch that the calls belong to. */
export interface RunsOwner {
  /** Whether a handler may start. */
  readonly mayStart: boolean
  /** A call has changed; the handler of the call of this id has reported progress. */
  readonly changed: (reported?: string) => void
}

export class CallRuns {
  readonly #input: ToolBatchInput
  readonly #ends: CallEnds
  readonly #system: System.System
  readonly #owner: RunsOwner
  #wishes: ModeRequests | undefined
  #restored: Array<{ readonly call: BatchCall; readonly run: () => void }> | undefined

  constructor(input: ToolBatchInput, ends: CallEnds, system: System.System, owner: RunsOwner) {
    this.#input = input
    this.#ends = ends
    this.#system = system
    this.#owner = owner
  }

  /** A call, as its chart finds it. */
  runnable(call: BatchCall, tool: Tool): RunnableCall {
    const { options, stepId, messageIndex } = this.#input
    const { toolCall, index, given: edited } = call
    const isRestored = !call.hasStarted
    return {
      tool,
      toolCall,
      options,
      stepId,
      messageIndex,
      index,
      edited,
      asks: { former: call.decided, clock: this.#system.clock },
      counted: (usage) => this.#input.calls.count(call, usage),
      mayStart: () => isRestored || this.#owner.mayStart,
      restored: isRestored ? (run) => void (this.#restored ??= []).push({ call, run }) : undefined,
      started: (pid) => void (call.pid = pid),
      progressed: (value) => {
        call.progress = value
        this.#owner.changed(toolCall.id)
      },
      changed: (status) => this.#statusChanged(call, status),
      wants: (mode, signal) => {
        this.#wishes ??= new ModeRequests(options, this.#system)
        return this.#wishes.request(mode, call.toolCall, tool, signal)
      },
      wished: (wish) => void (call.wish = wish)
    }
  }

  /** The calls are restored: the handlers of those that run start again. */
  restore(): void {
    const waiting = this.#restored ?? []
    this.#restored = undefined
    for (const { call, run } of waiting) if (call.mark === "running") run()
  }

  /** Aborts the pending questions. */
  leave(): void {
    this.#wishes?.leave()
  }

  /** The call entered this state by a cancel, a restart or the run after a restart. */
  #statusChanged(call: BatchCall, status: "running" | "cancelling" | "restarting"): void {
    if (call.isOver) return
    call.mark = status
    if (status === "running") {
      call.startedAt = this.#system.clock.now()
      call.progress = undefined
      call.wish = undefined
      this.#ends.reached(call, "begun")
    }
    this.#owner.changed()
  }
}
