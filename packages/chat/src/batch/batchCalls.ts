/**
 * The calls of one message while they run: their states in the record, what they do at present, and their outcomes.
 *
 * Owns: one entry for each call of the message, and the order of halts. They outlive the process of the chat. Does not own the order in which calls start, nor their processes.
 *
 * BATCH1. Every call of a batch ends with exactly one outcome, in its own position. When its process dies without an
 *         outcome, the outcome is a `handler_exit` error.
 * BATCH3. A call's three events are emitted together, when the call is over.
 * BATCH9. A call that may have run before and does not run again is `unknown`, for any reason that it does not run.
 * BATCH11. Of the calls of a reply, the first `maxCallsPerReply` run. Each other call is `not_started`: the gate does not judge
 *          it, no policy is called for it, and the model reads the bound.
 * BATCH10. A chart that is restored keeps the outcomes of its calls, their halts and the cancel. Calls that have not begun are
 *          judged again. The handler of a running call runs again, but not after the call was cancelled: then the call is
 *          `abandoned` at its drain deadline.
 */
import {
  aboutOf,
  type ToolCallEvent,
  type ToolCallView,
  toolFailure,
  type ToolOutcome,
  toolOutcome,
  type OutcomeRules,
  resultOf
} from "../call/index.ts"
import * as Usage from "../model/Usage.ts"
import type { ModeWish } from "../gate/index.ts"
import type { ToolCall, ToolMessage, Message } from "../model/index.ts"
import { type ChildWait, continuesChild, type OpenCall, type StepHalt } from "../record/index.ts"
import type { CallPlace, Tool } from "../tool/index.ts"
import { type CallMark, inHaltOrder, type OrderedCall } from "./nextCalls.ts"
import type { HaltOrder, RunOptions } from "../options/index.ts"
import { describe } from "../values/index.ts"
import type * as Scope from "effect/Scope"
import type { SessionError } from "../errors/index.ts"
import type { Outlet } from "../events/index.ts"
import type { CallEnv, RunnableCall, ToolCallWatcher, CallEnd, ToolCallInput } from "../call/index.ts"
import type { Pid } from "@troupe/otp"
import type { Held } from "../values/index.ts"

/** A call as its batch begins. */
export interface CallStart {
  /** The call as the model wrote it, or with edited arguments. */
  readonly toolCall: ToolCall
  /** Its state in the record. A batch runs its calls that are `new` or `decided`. */
  readonly open: OpenCall
  /** An outcome that is known before the batch begins: the call does not run. */
  readonly settled?: ToolOutcome | undefined
}

/** Why a call is suspended (human in the loop): the gate, with its limit; what it asks or its sub-agent waits for; its unknown outcome. */
export interface SuspendedCall {
  /** The milliseconds after which the call expires; never by default. */
  readonly expiresMs?: number | undefined
  readonly child?: ChildWait | undefined
  /** Why its outcome is unknown. */
  readonly unknown?: string | undefined
}

/** One call of a message. */
export class BatchCall implements OrderedCall {
  /** Its position in the message. */
  readonly index: number
  readonly settled: ToolOutcome | undefined
  /** Whether it is a call of the batch. */
  readonly isOwn: boolean
  /** Whether it may have run before the batch (BATCH9). */
  readonly again: boolean
  toolCall: ToolCall
  /** Its state in the record, without its outcome. */
  open: OpenCall
  /** What a person decided about the questions of its handler, or of its sub-agent. */
  readonly decided: ChildWait | undefined
  mark: CallMark | undefined = undefined
  edited: boolean
  /** The arguments that a person gave. Every run of the call begins with them, and its key has them. */
  given: CallPlace["edited"]
  startedAt: number | undefined = undefined
  endedAt: number | undefined = undefined
  progress: unknown = undefined
  pid: Pid<ToolCallEvent> | undefined = undefined
  outcome: ToolOutcome | undefined = undefined
  suspended: SuspendedCall | undefined = undefined
  /** The permission mode that the call requests, in its present run. */
  wish: ModeWish | undefined = undefined
  /** The usage of the requests that its handler sent itself. */
  spent: Usage.Usage | undefined = undefined
  /** Called with the outcome; absent when the call has no span. */
  traced: ((outcome: ToolOutcome) => void) | undefined = undefined

  constructor({ toolCall, open, settled }: CallStart, index: number) {
    this.toolCall = toolCall
    this.index = index
    this.open = open
    this.settled = settled
    this.isOwn = open.state === "new" || open.state === "decided"
    const decided = open.state === "decided" ? open : undefined
    this.decided = decided?.child
    this.again = decided?.kind === "unknown_outcome" && settled === undefined
    this.given = decided?.decision.type === "allow" ? decided.decision.arguments : undefined
    this.edited = this.given !== undefined
  }

  get state(): OpenCall["state"] {
    if (this.outcome !== undefined) return "done"
    return this.suspended === undefined ? this.open.state : "waiting"
  }

  get halts(): "halt" | "question" | undefined {
    const type = this.outcome?.halt?.type
    return type === undefined || type === "question" ? type : "halt"
  }

  /** Whether it has its outcome or is suspended. */
  get isOver(): boolean {
    return this.outcome !== undefined || this.suspended !== undefined
  }

  /** Whether its handler may run, and is not being cancelled. */
  get isRunning(): boolean {
    return this.mark === "running" || this.mark === "restarting"
  }

  /** Whether its process was started in this batch. */
  get hasStarted(): boolean {
    return this.mark !== undefined && this.mark !== "gating" && this.mark !== "starting"
  }

  /** Whether it writes and may have run, as far as the record says. */
  get mayHaveRun(): boolean {
    return this.open.state === "intended" || continuesChild(this.open)
  }

  /** Notes the intent of the call. A call that continues a sub-agent keeps the decisions: they are the intent. */
  intend(): void {
    if (continuesChild(this.open)) return
    this.open = { state: "intended", ...(this.given !== undefined && { arguments: this.given }) }
  }

  /** It has its outcome. It keeps its place while its intent is being stored. */
  over(outcome: ToolOutcome, now: number): void {
    this.outcome = outcome
    this.suspended = undefined
    this.endedAt = now
    if (this.mark !== "starting") this.mark = undefined
    this.traced?.(outcome)
  }

  /** The call as a user interface shows it. */
  view(queuedAt: number): ToolCallView {
    const { toolCall, status, startedAt, endedAt, outcome, progress, pid } = this
    return {
      id: toolCall.id,
      name: toolCall.name,
      ...aboutOf(toolCall.arguments),
      status,
      queuedAt,
      startedAt,
      endedAt,
      outcome: outcome?.outcome,
      progress,
      pid: outcome === undefined ? pid : undefined
    }
  }

  /** The state that a user interface shows. */
  get status(): ToolCallView["status"] {
    if (this.outcome !== undefined) return "done"
    if (this.suspended !== undefined) return "suspended"
    switch (this.mark) {
      case "following":
        return "running"
      case undefined:
      case "starting":
      case "asking":
        return "queued"
      default:
        return this.mark
    }
  }
}

const noHalts: ReadonlyArray<StepHalt> = []

/** The calls of a message. */
export class BatchCalls {
  readonly all: ReadonlyArray<BatchCall>
  /** The calls of the batch, in call order. */
  readonly own: ReadonlyArray<BatchCall>
  /** The positions of halting calls, in the order of their ends. */
  readonly halts: Array<number> = []
  /** The usage of the requests that the handlers sent themselves. */
  spent: Usage.Usage | undefined = undefined

  constructor(calls: ReadonlyArray<CallStart>) {
    this.all = calls.map((call, index) => new BatchCall(call, index))
    this.own = this.all.every(({ isOwn }) => isOwn) ? this.all : this.all.filter(({ isOwn }) => isOwn)
  }

  /** Counts the usage of a request of a call; returns that of all calls. */
  count(call: BatchCall, usage: Usage.Usage): Usage.Usage {
    if (Object.keys(usage).length === 0) return this.spent ?? usage
    call.spent = Usage.add(call.spent ?? Usage.empty, usage)
    return (this.spent = Usage.add(this.spent ?? Usage.empty, usage))
  }

  /** The halts, the one that counts first. */
  haltsIn(order: HaltOrder | undefined): ReadonlyArray<StepHalt> {
    if (this.halts.length === 0) return noHalts
    return inHaltOrder(this.halts, order).flatMap((index) => this.all[index]?.outcome?.halt ?? [])
  }

  /** The tool message of a call that is over. */
  readonly resultAt = (position: number): ToolMessage | undefined => this.all[position]?.outcome?.message
}

/** How many calls of a reply run, unless an option sets it. */
export const defaultMaxCalls = 128

/** What the model reads of a call beyond the bound. */
export const tooManyCalls = (most: number): string =>
  `not started: at most ${most} calls of a reply run; make the other calls in your next reply`

/** The calls of a new reply (BATCH11). `isManual` is whether the caller answers a call. */
export const startsOf = (
  toolCalls: ReadonlyArray<ToolCall>,
  { maxCallsPerReply = defaultMaxCalls, toolResultEncoder }: Pick<RunOptions, "maxCallsPerReply" | "toolResultEncoder">,
  isManual: (toolCall: ToolCall) => boolean = () => false
): ReadonlyArray<CallStart> =>
  toolCalls.map((toolCall, position) => {
    if (isManual(toolCall)) return { toolCall, open: manual }
    if (position < maxCallsPerReply) return { toolCall, open: isNew }
    const failure = toolFailure(toolCall, "too_many_calls", tooManyCalls(maxCallsPerReply))
    return { toolCall, open: isNew, settled: toolOutcome(toolCall, failure, { toolResultEncoder }) }
  })

/** The calls of a reply without a chat. */
export const newCalls = (toolCalls: ReadonlyArray<ToolCall>, options: RunOptions): BatchCalls =>
  new BatchCalls(startsOf(toolCalls, options))

const isNew: OpenCall = { state: "new" }
const manual: OpenCall = { state: "manual" }

/** The reason that is given for a call with an unknown outcome. */
export const unknownReason = "the program ended while it ran; it is unknown whether it took effect"

/** The outcome of a call that may or may not have taken effect. */
export const unknownOutcome = (toolCall: ToolCall, rules: OutcomeRules, message: string = unknownReason): ToolOutcome =>
  toolOutcome(
    toolCall,
    toolFailure(toolCall, "handler_exit", message),
    { toolResultEncoder: rules.toolResultEncoder },
    "unknown"
  )

/** Replaces the outcome of a call that may have run before and did not run again (DEC2). Its halt is kept. */
export const stillUnknown = (ended: ToolOutcome, rules: OutcomeRules): ToolOutcome => {
  if (ended.outcome === "unknown") return ended
  const result = resultOf(ended)
  const why = result?.type === "error" ? describe(result.reason) : ended.outcome
  return { ...notAgain(ended.toolCall, why, rules), halt: ended.halt }
}

/** The outcome of a call that may have run, and does not run again. */
export const notAgain = (toolCall: ToolCall, reason: string, rules: OutcomeRules): ToolOutcome =>
  unknownOutcome(toolCall, rules, `${unknownReason}; it was not run again: ${reason}`)

/** Stores the intents and the outcomes of calls that write. */
export interface IntentJournal {
  /** An intent was noted; `done` is called when it is stored, or with the failure. */
  readonly intend: (done: (failure: SessionError | undefined) => void) => void
  /** A call that may have run is over; `goesOn` is whether others still run. */
  readonly over: (goesOn: boolean) => void
}

export interface ToolBatchInput {
  /** The calls of the message, which outlive the process of the chart. */
  readonly calls: BatchCalls
  /** The random id of the step or the batch; without one, idempotency keys contain `messageIndex` instead (KEY3). */
  readonly stepId?: string | undefined
  /** The place of the calls' message in the thread; default 0. */
  readonly messageIndex?: number | undefined
  /** The thread before the calls' message, for questions about the calls. Default: empty. */
  readonly messages?: ReadonlyArray<Message> | undefined
  readonly toolsByName: ReadonlyMap<string, Tool>
  readonly options: RunOptions & {
    /** A person decided about the calls: no question is asked, and the mode is ignored; the lists still apply. */
    readonly permitted?: boolean | undefined
  }
  readonly outlet: Outlet
  readonly watcher?: ToolCallWatcher | undefined
  /** Records the intents and outcomes of calls that write; without one no intents are stored. */
  readonly journal?: IntentJournal | undefined
}

/** Outcomes in call order, the halt that counts, and the suspended calls, which have no outcome yet. */
export interface ToolBatchResult {
  readonly outcomes: ReadonlyArray<ToolOutcome>
  readonly halt: StepHalt | undefined
  /** By their positions in the message, with the arguments that a person gave. */
  readonly suspended: ReadonlyArray<SuspendedCall & { readonly index: number; readonly given?: CallPlace["edited"] }>
  /** The error that prevented calls from starting; it ends the turn. */
  readonly error?: SessionError | undefined
}

/** The environment of a batch and its calls. */
export interface BatchEnv extends CallEnv {
  /** The batch that starts. */
  readonly batch: () => ToolBatchInput
  /** Sets the batch that runs, in which `call` finds calls. */
  readonly runs: (batch: Pick<CallEnv, "call">, scope: Scope.Scope) => void
}

/** The part that batches of one environment share, which run one after another. */
export class BatchLife implements Omit<BatchEnv, "batch"> {
  #running: Pick<CallEnv, "call"> | undefined
  scope: Scope.Scope | undefined

  runs(batch: Pick<CallEnv, "call">, scope: Scope.Scope): void {
    this.#running = batch
    this.scope = scope
  }

  call(index: number): RunnableCall {
    if (this.#running === undefined) throw new Error("a tool call runs without a batch")
    return this.#running.call(index)
  }
}

/** The end of a call's chart, or the reason why its process died before. */
export type EndOfCall = CallEnd | { readonly type: "died"; readonly reason: Held<unknown> }

/**
 * A call that has begun, as a chart holds it: whether it was cancelled while it ran, the end of its chart, its outcome before the
 * hooks after it, its outcome, its place in the order of halts, what its sub-agent waits for, and why its outcome is unknown.
 */
export interface CallState {
  readonly cancelled?: boolean | undefined
  readonly end?: EndOfCall | undefined
  readonly following?: Held<ToolOutcome> | undefined
  readonly outcome?: Held<ToolOutcome> | undefined
  readonly halted?: number | undefined
  readonly child?: ChildWait | undefined
  readonly unknown?: string | undefined
}

/** The calls that have begun, or are over, by their positions; `null` for another call. */
export type CallStates = ReadonlyArray<CallState | null>

/**
 * The events that the actor `calls` sends.
 *
 * - `calls.ready`: it waits for `begin`
 * - `call.begin`: a call starts
 * - `call.command`: the command is for the chart of a running call
 * - `call.changed`: the state of a call
 * - `calls.exhausted`: every call is over, and the reader has read past the last event
 */
export type CallsEvent =
  | { readonly type: "calls.ready" }
  | ({ readonly type: "call.begin"; readonly index: number } & ToolCallInput)
  | {
      readonly type: "call.command"
      readonly index: number
      readonly command: Extract<ToolCallEvent["type"], "call.cancel" | "call.restart">
      readonly state?: CallState | undefined
    }
  | { readonly type: "call.changed"; readonly index: number; readonly state: CallState }
  | { readonly type: "calls.exhausted"; readonly result: Held<ToolBatchResult> }

/**
 * The commands of the actor `calls`.
 *
 * - `begin`: starts the calls, or continues with those that a stored chart has
 * - `calls.cancel`: cancels all calls
 * - `call.ended`: the chart of a call has ended, or its process died before
 */
export type CallsCommand =
  | { readonly type: "begin"; readonly calls: CallStates; readonly cancelled: boolean }
  | { readonly type: "calls.cancel" }
  | { readonly type: "call.ended"; readonly index: number; readonly end: EndOfCall }

/** The actor that has the running calls. */
export interface BatchHost {
  /** The process of the chart; `undefined` under a bare `createActor`. */
  readonly pid: Pid | undefined
  readonly send: (event: CallsEvent) => void
  /** Runs a function in a turn of the process. */
  readonly turn: (run: () => void) => void
}
