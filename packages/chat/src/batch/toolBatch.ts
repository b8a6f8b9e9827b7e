/**
 * The tool calls of one assistant message: a process that supervises one process for each call.
 *
 * Owns: the order in which calls start, the slots they run in, the outcomes. Does not own a call's phases
 * (`ToolCallMachine`), nor what an outcome says (`toolOutcome`).
 *
 * BATCH1. Every call ends with exactly one outcome, in its own position, whatever its process does: a process that dies
 *         without one is a `handler_exit` error.
 * BATCH2. A halt never cancels siblings. Under the schedule `concurrent` it skips none; else the calls behind it that
 *         have not started by then never do, unless it is a question. Of several halts the first in call order counts.
 * BATCH3. A call's three events come out together, when it is over.
 * BATCH4. After a cancel, or once the signal of the run is aborted, no call starts; those that run are told, and waited for
 *         until their drain deadline. A question that was asked by then is kept.
 * BATCH5. The batch is done when every call is over and the reader asked past the last event.
 * BATCH6. Where there is a gate, no call starts before all are judged. A call it refused is `denied`; where it ended the
 *         turn, what was not refused before is `not_started`. A suspended call has no outcome here: it is handed on.
 * BATCH7. One call, or all of them, can be cancelled without the batch: the others go on, and so does the turn. What waited
 *         for none but a call that is cancelled before its turn starts at once. Whoever asked is told when those calls are
 *         over, or run again.
 * BATCH8. A call that writes starts when its intent is kept; if it cannot be, it is not started, nor is another that
 *         writes, and the batch ends with that error. The deadline of a call does not count meanwhile.
 * BATCH9. A call that may have run before, and does not run again, is `unknown`, whatever kept it from running.
 */
import { type Pid, Process, StateMachine } from "@troupe/otp"
import type { ActorLogic, Snapshot } from "xstate"
import type { SessionError } from "../errors/ChatError.ts"
import type { Schedule } from "../options/ChatOptions.ts"
import type * as HandlerResult from "../model/HandlerResult.ts"
import type { Mode } from "../gate/Permissions.ts"
import type { Tool } from "../tool/Tool.ts"
import type { ToolCall } from "../model/ToolCall.ts"
import { type CallWatcher, toolCallMachine } from "../call/ToolCallMachine.ts"
import { describe } from "../tool/ToolResultEncoder.ts"
import { AwaitedCalls } from "./callWaiters.ts"
import type { CallCommand, ToolBatchEvent, ToolBatchInput, ToolBatchResult } from "./batchContract.ts"
import { type BatchGate, batchGateOf } from "./batchGate.ts"
import { closestName } from "../errors/closestName.ts"
import { stillUnknown } from "../step/decisions.ts"
import type { GateVerdict, Suspended } from "../gate/gate.ts"
import type { Journal } from "../step/journal.ts"
import { ModeWishes, type ModeWish } from "../gate/permissionMode.ts"
import { QueueSource } from "../events/queueSource.ts"
import { quoted } from "../errors/truncate.ts"
import { type BatchPlan, planOfBatch, planWithout } from "./access.ts"
import type { ToolCallView } from "../call/toolCallView.ts"
import { endedEarly, type ToolOutcome, toolFailure, toolOutcome } from "../call/toolOutcome.ts"
import { haltedOutcome, refusedOutcome, withArguments } from "./gateOutcome.ts"
import type { SlotLine } from "./slots.ts"

interface Slot {
  /** What runs: the call as the model wrote it, unless its arguments were edited. */
  toolCall: ToolCall
  edited: boolean
  /** The call's place in the batch, and in its message. */
  readonly index: number
  readonly position: number
  status: ToolCallView["status"]
  /** Whether it was given its turn, and a slot. */
  taken: boolean
  startedAt: number | undefined
  endedAt: number | undefined
  progress: unknown
  pid: StateMachine.MachinePid<typeof toolCallMachine> | undefined
  outcome: ToolOutcome | undefined
  suspended: Suspended | undefined
  /** The permission mode it wants, in its present run. */
  wish: ModeWish | undefined
  /** Told of the outcome, where the call has a span. */
  traced: ((outcome: ToolOutcome) => void) | undefined
}

/** Whether its handler runs: hooks may still look at a call whose process is over. */
const isRunning = ({ status, pid }: Slot): boolean => status === "running" && pid !== undefined && Process.isAlive(pid)

const isMeant = ({ toolCall }: Slot, id: string | undefined): boolean => id === undefined || toolCall.id === id

type BatchSnapshot = Snapshot<ToolBatchResult> & { readonly batch?: ToolBatch }

/** The batch as logic to host. */
export const toolBatch: ActorLogic<BatchSnapshot, ToolBatchEvent, ToolBatchInput> = {
  getInitialSnapshot: ({ self }, input) => ({
    status: "active",
    output: undefined,
    error: undefined,
    batch: new ToolBatch(input, (event) => self.send(event))
  }),
  start: (snapshot, { system }) => {
    const host = StateMachine.hostOf(system)
    if (host === undefined)
      throw new Error("A tool batch runs in a process of its own; start it with StateMachine.start")
    snapshot.batch?.start(host)
  },
  transition: (snapshot, event) => {
    const { batch } = snapshot
    if (batch === undefined) return snapshot
    switch (event.type) {
      case "process.exit":
        batch.exited(event.from, event.reason)
        return snapshot
      case "batch.cancel":
        batch.cancel()
        return snapshot
      case "calls.cancel":
        batch.cancelCalls(event)
        return snapshot
      case "calls.restart":
        batch.restartCalls(event)
        return snapshot
      case "batch.slot":
        batch.slotGranted()
        return snapshot
      case "batch.gated":
        batch.gated(event.verdicts)
        return snapshot
      case "batch.followed":
        batch.followed(event.index, event.outcome)
        return snapshot
      case "batch.intended":
        batch.intended(event.index, event.failure)
        return snapshot
      case "batch.exhausted":
        return { status: "done", output: batch.result(), error: undefined }
      default:
        batch.leave()
        return { status: "stopped", output: undefined, error: undefined }
    }
  },
  getPersistedSnapshot: (snapshot) => snapshot
}

/** A running batch. */
class ToolBatch {
  readonly #input: ToolBatchInput
  readonly #tell: (event: ToolBatchEvent) => void
  #gate: BatchGate | undefined
  #host: Pid<ToolBatchEvent> | undefined
  #queuedAt = 0
  readonly #slots: ReadonlyArray<Slot>
  readonly #source: QueueSource
  readonly #limit: number
  readonly #schedule: Schedule
  #order: BatchPlan | undefined
  /** The place of this batch in the line for slots, where those are counted. */
  #line: SlotLine | undefined
  /** Calls from this position on do not start any more. */
  #mayStart: number
  readonly #awaited = new AwaitedCalls<Slot>()
  readonly #byPid = new Map<Pid, Slot>()
  #running = 0
  #over = 0
  #cancelled = false
  #error: SessionError | undefined
  #wishes: ModeWishes | undefined

  constructor(input: ToolBatchInput, tell: (event: ToolBatchEvent) => void) {
    this.#input = input
    this.#tell = tell
    this.#slots = input.toolCalls.map((toolCall, index) => ({
      toolCall,
      edited: input.edited?.has(index) === true,
      index,
      position: input.positions?.[index] ?? index,
      status: "queued",
      taken: false,
      startedAt: undefined,
      endedAt: undefined,
      progress: undefined,
      pid: undefined,
      outcome: undefined,
      suspended: undefined,
      wish: undefined,
      traced: undefined
    }))
    this.#mayStart = this.#slots.length
    this.#schedule = input.options.schedule ?? "concurrent"
    this.#source = new QueueSource(() => tell({ type: "batch.exhausted" }), input.ledger?.unread)
    this.#limit = input.options.maxConcurrency ?? defaultConcurrency()
  }

  start(host: Pid<ToolBatchEvent>): void {
    this.#host = host
    this.#queuedAt = this.#now()
    this.#line = this.#input.options.toolSlots?.line(host, () => this.#tell({ type: "batch.slot" }))
    this.#input.outlet.attach(this.#source)
    if (this.#input.settled !== undefined) this.#settleAll(this.#input.settled)
    this.#gate = batchGateOf(this.#input.options, Process.systemOf(host))
    if (this.#gate?.judges === true) return this.#judge(this.#gate)
    this.#fill()
    this.#finishIfOver()
  }

  /** Every call that is to be judged has been (BATCH6). */
  gated(verdicts: ReadonlyArray<GateVerdict>): void {
    if (this.#cancelled) return
    const judged = this.#judged()
    const halted = verdicts.some(({ type }) => type === "halt")
    verdicts.forEach((verdict, at) => {
      const slot = judged[at]
      if (slot === undefined || isOver(slot)) return
      slot.status = "queued"
      if (verdict.type === "allow")
        Object.assign(slot, { toolCall: verdict.toolCall, edited: slot.edited || verdict.edited })
      else if (verdict.type === "deny") this.#record(slot, refusedOutcome(verdict))
      else if (verdict.type === "halt") this.#record(slot, haltedOutcome(verdict))
      else if (verdict.type === "suspend" && !halted) this.#suspend(slot, verdict)
    })
    if (halted) this.#endQueued(0, "not_started")
    this.#fill()
    this.#finishIfOver()
  }

  /** The hooks have looked at a call that is over. */
  followed(index: number, outcome: ToolOutcome): void {
    const slot = this.#slots[index]
    if (slot !== undefined) this.#ended(slot, outcome)
  }

  /** A slot is free for this batch; it may not need it any more. */
  slotGranted(): void {
    this.#fill()
    this.#finishIfOver()
  }

  exited(pid: Pid, reason: unknown): void {
    const slot = this.#byPid.get(pid)
    if (slot?.pid === undefined || slot.outcome !== undefined) return
    const outcome =
      StateMachine.output(slot.pid) ?? toolOutcome(slot.toolCall, died(slot.toolCall, reason), this.#input.options)
    if (this.#gate?.follows(outcome) !== true) return this.#ended(slot, outcome)
    const { index } = slot
    const { ledger } = this.#input
    if (ledger !== undefined) ledger.following[index] = outcome
    void this.#gate.follow(index, outcome).then((last) => this.#tell({ type: "batch.followed", index, outcome: last }))
  }

  /** A running call is over: its slot is free. */
  #ended(slot: Slot, outcome: ToolOutcome): void {
    this.#record(slot, outcome)
    this.#release(slot)
  }

  cancel(): void {
    if (this.#cancelled) return
    this.#cancelled = true
    this.#gate?.leave()
    this.#endQueued(0, "cancelled")
    for (const slot of this.#slots) this.#end(slot)
    this.#changed()
    this.#finishIfOver()
  }

  /** The calls end, and nothing else does (BATCH7). */
  cancelCalls({ toolCallId, done }: CallCommand): void {
    const slots = this.#slots.filter((slot) => !isOver(slot) && isMeant(slot, toolCallId))
    this.#awaited.add(slots, "over", done)
    for (const slot of slots) {
      this.#gate?.skip(slot.index)
      if (slot.status !== "queued" && slot.status !== "gating") this.#end(slot)
      else this.#record(slot, endedEarly(slot.toolCall, "cancelled", this.#input.options))
    }
    if (this.#order !== undefined) {
      if (slots.some((slot) => !slot.taken)) this.#order = planWithout(this.#order, this.#isOverAt, this.#schedule)
      this.#fill()
    }
    this.#finishIfOver()
    this.#awaited.answer()
  }

  /** The calls that run are run again; those that are to end are not (BATCH7). */
  restartCalls({ toolCallId, done }: CallCommand): void {
    const slots = this.#slots.filter((slot) => isRunning(slot) && isMeant(slot, toolCallId))
    this.#awaited.add(slots, "begun", done)
    for (const slot of slots) {
      if (slot.pid === undefined) continue
      slot.status = "restarting"
      Process.send(slot.pid, { type: "call.restart" })
    }
    this.#changed()
    this.#awaited.answer()
  }

  #end(slot: Slot): void {
    if (slot.pid === undefined || !(slot.status === "restarting" || isRunning(slot))) return
    slot.status = "cancelling"
    Process.send(slot.pid, { type: "call.cancel" })
  }

  /** What a call's own process says of itself, whoever told it to. */
  #watching(slot: Slot): CallWatcher {
    return {
      progressed: (value) => {
        slot.progress = value
        this.#changed()
      },
      changed: (status) => {
        if (slot.status === "done") return
        slot.status = status
        if (status === "running") {
          slot.startedAt = this.#now()
          slot.progress = undefined
          slot.wish = undefined
          this.#awaited.reached(slot, "begun")
        }
        this.#changed()
      },
      wants: (mode, signal) => this.#hear(slot, mode, signal),
      wished: (wish) => {
        slot.wish = wish
      }
    }
  }

  /** A call wants another permission mode; the first makes who asks. */
  #hear(slot: Slot, mode: Mode, signal: AbortSignal): ModeWish | Promise<ModeWish> {
    const { options, toolsByName } = this.#input
    const system = this.#host === undefined ? undefined : Process.systemOf(this.#host)
    this.#wishes ??= new ModeWishes(options, system)
    return this.#wishes.hear(mode, slot.toolCall, toolsByName.get(slot.toolCall.name), signal)
  }

  /** The intent of a call is kept, or cannot be (BATCH8); the call may be over already. */
  intended(index: number, failure: SessionError | undefined): void {
    const host = this.#host
    const slot = this.#slots[index]
    const tool = slot === undefined ? undefined : this.#input.toolsByName.get(slot.toolCall.name)
    if (host === undefined || slot === undefined || tool === undefined) return
    this.#heedSignal()
    if (failure === undefined && slot.outcome === undefined) {
      this.#start(host, slot, tool)
      return this.#changed()
    }
    if (failure !== undefined) this.#error ??= failure
    if (slot.outcome === undefined && failure !== undefined) {
      const message = `not started: ${failure.reason}: ${failure.message}`
      this.#record(slot, endedEarly(slot.toolCall, "not_started", this.#input.options, message))
    }
    this.#release(slot)
  }

  /** A call gives its slot back, and those that waited for its end may start. */
  #release({ index }: Slot): void {
    this.#running--
    this.#line?.release()
    this.#order?.plan.ended(index)
    this.#fill()
    this.#finishIfOver()
  }

  leave(): void {
    this.#gate?.leave()
    this.#wishes?.leave()
    this.#input.outlet.detach(this.#source)
  }

  result(): ToolBatchResult {
    const outcomes = this.#slots.flatMap((slot) => (slot.outcome === undefined ? [] : [slot.outcome]))
    const halts = outcomes.flatMap((outcome) => (outcome.halt === undefined ? [] : [outcome.halt]))
    const halt = this.#cancelled
      ? ({ type: "cancelled", question: halts.find((one) => one.type === "question") } as const)
      : halts[0]
    const suspended = this.#slots.flatMap(({ index, suspended: waits }) =>
      waits === undefined ? [] : [{ index, expiresMs: waits.expiresMs }]
    )
    return { outcomes, halt, suspended, error: this.#error }
  }

  /** Has the calls judged that could run (BGATE1). */
  #judge(gate: BatchGate): void {
    const judged = this.#judged()
    const calls = judged.map(({ index, toolCall }) => ({
      index,
      toolCall,
      tool: this.#input.toolsByName.get(toolCall.name)
    }))
    let last: Slot | undefined
    const judging = (index: number): void => {
      if (last?.status === "gating") last.status = "queued"
      last = this.#slots[index]
      if (last?.status === "queued") last.status = "gating"
      this.#changed()
    }
    void gate.judge(calls, judging).then((verdicts) => this.#tell({ type: "batch.gated", verdicts }))
  }

  /** What could run still: what is settled from the beginning is not judged. */
  #judged(): ReadonlyArray<Slot> {
    const { toolsByName, settled } = this.#input
    return this.#slots.filter(
      ({ toolCall, index }) =>
        toolCall.arguments !== null && toolsByName.has(toolCall.name) && settled?.has(index) !== true
    )
  }

  #suspend(slot: Slot, suspended: Suspended): void {
    slot.suspended = suspended
    slot.status = "suspended"
    this.#over++
  }

  /** Starts calls while their turn has come and there are slots. */
  #fill(): void {
    const host = this.#host
    if (host === undefined) return
    const { plan, faults } = (this.#order ??= this.#planned())
    while (this.#running < this.#limit) {
      this.#heedSignal()
      const position = plan.take()
      const slot = position === undefined ? undefined : this.#slots[position]
      if (slot === undefined) {
        this.#line?.rest()
        break
      }
      if (slot.taken) continue
      const tool = this.#input.toolsByName.get(slot.toolCall.name)
      const fault = faults.get(slot.index)
      if (isOver(slot) || tool === undefined || fault !== undefined) {
        if (!isOver(slot)) {
          this.#settle(slot, fault ?? notFound(slot.toolCall, this.#input.toolsByName))
        }
        plan.ended(slot.index)
        continue
      }
      const { journal } = this.#input
      const writes = journal !== undefined && tool.effect !== "read"
      if (writes && this.#error !== undefined) {
        this.#record(slot, endedEarly(slot.toolCall, "not_started", this.#input.options, "not started: store_failed"))
        plan.ended(slot.index)
        continue
      }
      if (this.#line?.take() === false) {
        plan.putBack(slot.index)
        break
      }
      this.#running++
      slot.taken = true
      if (writes) this.#intend(host, slot, journal)
      else this.#start(host, slot, tool)
    }
    this.#changed()
  }

  /** A handler can abort the signal of its run before the next call starts (BATCH4). */
  #heedSignal(): void {
    if (this.#input.options.signal?.aborted === true) this.cancel()
  }

  /** Has the intent of a call kept, which has its slot already (BATCH8). */
  #intend(host: Pid<ToolBatchEvent>, slot: Slot, journal: Journal): void {
    const { index } = slot
    journal.intend(slot.position, (failure) => Process.send(host, { type: "batch.intended", index, failure }))
  }

  #start(host: Pid, slot: Slot, tool: Tool): void {
    slot.status = "running"
    slot.traced = this.#input.options.trace?.tool(slot.toolCall, tool)
    slot.startedAt = this.#now()
    const pid = StateMachine.startLink(host, toolCallMachine, {
      input: {
        tool,
        toolCall: slot.toolCall,
        options: this.#input.options,
        startAtOnce: true,
        stepId: this.#input.stepId,
        messageIndex: this.#input.messageIndex,
        index: slot.position,
        edited: this.#input.edited?.has(slot.index) === true ? (slot.toolCall.arguments ?? undefined) : undefined,
        watcher: this.#watching(slot)
      },
      label: `ToolCall ${slot.toolCall.name}`
    })
    slot.pid = pid
    this.#byPid.set(pid, slot)
  }

  #planned(): BatchPlan {
    const { toolsByName } = this.#input
    const calls = this.#slots.map(({ toolCall }) => toolCall)
    return planOfBatch(calls, toolsByName, this.#isOverAt, this.#schedule)
  }

  readonly #isOverAt = (index: number): boolean => {
    const slot = this.#slots[index]
    return slot === undefined || isOver(slot)
  }

  #settleAll(settled: ReadonlyMap<number, ToolOutcome>): void {
    for (const [index, outcome] of settled) {
      const slot = this.#slots[index]
      if (slot?.outcome === undefined && slot !== undefined) this.#record(slot, outcome)
    }
  }

  #settle(slot: Slot, result: HandlerResult.HandlerResult): void {
    this.#record(slot, toolOutcome(slot.toolCall, result, this.#input.options))
  }

  #record(slot: Slot, came: ToolOutcome): void {
    const ended = this.#input.again?.has(slot.index) === true ? this.#afterUnknown(slot, came) : came
    const told = slot.edited ? withArguments(ended) : ended
    const outcome = slot.wish === undefined ? told : { ...told, wish: slot.wish }
    slot.outcome = outcome
    slot.status = "done"
    slot.endedAt = this.#now()
    slot.traced?.(outcome)
    this.#over++
    const { ledger, journal } = this.#input
    if (ledger !== undefined) ledger.finished[slot.index] = outcome
    journal?.over(slot.position, outcome, this.#over < this.#slots.length)
    this.#source.push(...outcome.events)
    this.#awaited.reached(slot, "over")
    if (outcome.halt !== undefined && outcome.halt.type !== "question" && this.#schedule !== "concurrent") {
      this.#endQueued(this.#schedule === "reference" ? 0 : slot.index + 1, "not_started")
    }
  }

  /** A call that may have run before, and was not run again (BATCH9). */
  #afterUnknown({ pid }: Slot, ended: ToolOutcome): ToolOutcome {
    const ran = pid !== undefined && !checked.has(ended.outcome)
    return ran ? ended : stillUnknown(ended, this.#input.options)
  }

  /** The calls from this position on that have not started never do; each call is looked at once. */
  #endQueued(from: number, ended: "cancelled" | "not_started"): void {
    const upTo = this.#mayStart
    if (from >= upTo) return
    this.#mayStart = from
    for (const slot of this.#slots.slice(from, upTo)) {
      if (slot.suspended !== undefined) {
        slot.suspended = undefined
        slot.status = "queued"
        this.#over--
      }
      if (slot.status === "queued" || slot.status === "gating")
        this.#record(slot, endedEarly(slot.toolCall, ended, this.#input.options))
    }
  }

  #finishIfOver(): void {
    if (this.#over < this.#slots.length) return
    this.#gate?.leave()
    this.#wishes?.leave()
    this.#source.end()
  }

  #changed(): void {
    this.#input.watcher?.toolCallsChanged(this.#view, this.#host)
  }

  readonly #view = (): ReadonlyArray<ToolCallView> =>
    this.#slots.map(({ toolCall: { id, name }, status, startedAt, endedAt, outcome, progress, pid }) => ({
      id,
      name,
      status,
      queuedAt: this.#queuedAt,
      startedAt,
      endedAt,
      outcome: outcome?.outcome,
      progress,
      pid: status === "done" ? undefined : pid
    }))

  #now(): number {
    return this.#host === undefined ? 0 : Process.systemOf(this.#host).clock.now()
  }
}

/** The outcomes of a call whose process ended before its handler ran. */
const checked: ReadonlySet<string> = new Set(["invalid", "not_found", "not_started"])

const isOver = ({ outcome, suspended }: Slot): boolean => outcome !== undefined || suspended !== undefined

const died = (toolCall: ToolCall, reason: unknown): HandlerResult.Failed =>
  toolFailure(toolCall, "handler_exit", `the process of ${toolCall.name} exited: ${describe(reason)}`, reason)

/** Tells the model that there is no such tool, which there are, and which it may have meant. */
export const notFound = (toolCall: ToolCall, tools: ReadonlyMap<string, Tool>): HandlerResult.Failed => {
  const meant = closestName(toolCall.name, tools.keys())
  const known = tools.size === 0 ? "there are no tools" : `the tools are ${[...tools.keys()].join(", ")}`
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`
  return toolFailure(toolCall, "not_found", `there is no tool ${quoted(toolCall.name)}; ${known}${hint}`)
}

const defaultConcurrency = (): number => 2 * (globalThis.navigator?.hardwareConcurrency ?? 4)
