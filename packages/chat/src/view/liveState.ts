/**
 * The live state of a chat: that of its machine, as the process reports it, and that of the step that runs.
 *
 * Owns: the drafts of the reply and when they are stored, and those who wait for a change. Does not own the observers of snapshots: the view follows the state.
 *
 * VIEW5. Those who wait are called at once for each transition of the machine and each change of the calls, but not for text.
 * DRAFT1. The text is stored at most once per interval, and only if it has changed. There is a timer only while a reply
 *         streams; with an infinite interval there is none, and the text is stored when the chat ends.
 * DRAFT2. Nothing waits for a draft: a slow or failing save only affects the text of an interrupted reply. For each chat
 *         one save is under way at a time, and only the newest waiting draft is kept.
 * DRAFT3. A draft follows the entry that was saved before it, and is never part of a later entry (`chatHeads.ts`).
 */
import type { StateMachine, Clock } from "@troupe/otp"
import type { SnapshotFrom } from "xstate"
import type { CallControl, ToolCallView } from "../call/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import type { ChatContext, chatMachine } from "../loop/index.ts"
import * as Usage from "../model/Usage.ts"
import type { StepWatcher } from "../step/index.ts"
import type { StreamCollector } from "../events/index.ts"
import { inBackground } from "../async/index.ts"
import type { Draft } from "../store/index.ts"

export type MachineSnapshot = SnapshotFrom<typeof chatMachine>

/** The state of the chat's machine. */
export type ChatState = StateMachine.WatchedState<typeof chatMachine>

/**
 * Called when the state has changed; `isPassing` is whether another state follows in the same turn of the process. `call` calls those who
 * wait, and reports their exceptions.
 */
interface StateFollower {
  readonly call: (waiting: () => void) => void
  readonly stepStarted: () => void
  readonly callsChanged: (id: string | undefined) => void
  readonly transitioned: (isPassing: boolean, isBetweenTurns: boolean) => void
}

/** The states in which a chat is at rest. */
const resting: ReadonlySet<unknown> = new Set<MachineSnapshot["value"]>([
  "idle",
  "interrupted",
  "awaitingUser",
  "awaitingTools",
  "awaitingApproval",
  "ended"
])

/** The states that another state follows at once, in the same turn of the process. */
const passing: ReadonlySet<unknown> = new Set<unknown>(["beginning", "planning", "phaseC", "closing", "withdrawing"])

const nothing: ReadonlyArray<ToolCallView> = []
const none = (): ReadonlyArray<ToolCallView> => nothing

/** The step that runs. */
interface RunningStep {
  readonly collector: StreamCollector
  /** The drafts of its reply. */
  drafts: Drafts | undefined
  /** How many steps of the turn were over when it began; their text and usage are in the context. */
  readonly before: number
}

export class LiveState implements StepWatcher {
  readonly #drafting: DraftKeeping | undefined
  /** The view of this state. */
  follower: StateFollower | undefined
  #machine: ChatState | undefined
  #changes = 0
  #step: RunningStep | undefined
  #toolCalls: () => ReadonlyArray<ToolCallView> = none
  #control: CallControl | undefined
  #waiting: Set<() => void> | undefined

  constructor(drafting?: DraftKeeping) {
    this.#drafting = drafting
  }

  /** The state of the machine; `undefined` before the first process. */
  get machine(): ChatState | undefined {
    return this.#machine
  }

  /** The machine's own context; `undefined` before the first process. */
  get context(): ChatContext | undefined {
    return this.#machine?.context
  }

  /** The number of changes of the machine's state; `undefined` before the first process. */
  get changes(): number | undefined {
    return this.#machine === undefined ? undefined : this.#changes
  }

  /** The reply of the running step, until its step is in the context. */
  get collector(): StreamCollector | undefined {
    return this.#step?.collector
  }

  /** The text of the running step's reply so far. */
  get text(): string {
    return this.#step?.collector.text ?? ""
  }

  /** The usage of the request of the running step, until the context has the step. */
  get stepUsage(): Usage.Usage {
    const step = this.#step
    const isOver = step === undefined || (this.context?.steps.length ?? 0) > step.before
    return isOver ? Usage.empty : (step.collector.usage ?? Usage.empty)
  }

  /** The calls of the running step. */
  get toolCalls(): ReadonlyArray<ToolCallView> {
    return this.#toolCalls()
  }

  /** Takes commands about the calls of the running step. */
  get control(): CallControl | undefined {
    return this.#control
  }

  /** Whether a request of the running turn is open, or is being opened. */
  get isRequesting(): boolean {
    return this.#running === "phaseA"
  }

  /** Whether the running turn compacts its thread. */
  get isCompacting(): boolean {
    return this.#running === "planning" || this.#running === "compacting"
  }

  /** Whether the calls of the running turn run. */
  get isRunningTools(): boolean {
    return this.#running === "phaseB"
  }

  get #running(): unknown {
    const value = this.#machine?.value
    return typeof value === "string" ? undefined : value?.running
  }

  /** Whether the machine is in a state of rest, or has none. */
  get isResting(): boolean {
    return this.#machine === undefined || resting.has(this.#machine.value)
  }

  /** Whether no operation runs, and no input waits. */
  get isAtRest(): boolean {
    return this.isResting && Inbox.entries(this.context?.inbox ?? []).length === 0
  }

  stepStarted(collector: StreamCollector): void {
    this.#endReply()
    const { record, steps } = this.context ?? { record: undefined, steps: [] }
    const id = record?.id
    const drafts = this.#drafting && id !== undefined ? new Drafts(id, this.#drafting, collector) : undefined
    this.#step = { collector, drafts, before: steps.length }
    this.#forgetCalls()
    this.follower?.stepStarted()
  }

  toolCallsChanged(
    toolCalls: () => ReadonlyArray<ToolCallView>,
    control: CallControl | undefined,
    reported?: string
  ): void {
    this.#toolCalls = toolCalls
    this.#control = control
    this.follower?.callsChanged(reported)
    this.changed()
  }

  /** Called after each transition of the machine. */
  transitioned(machine: ChatState): void {
    this.#machine = machine
    this.#changes++
    const { value } = machine
    const isPassing = passing.has(typeof value === "string" ? value : value.running)
    if (isPassing) return this.follower?.transitioned(true, false)
    const { turn, steps } = machine.current
    if (turn === undefined || (this.#step !== undefined && steps.length > this.#step.before)) this.#endReply()
    if (turn === undefined) this.#forgetCalls()
    this.follower?.transitioned(false, turn === undefined)
    if (this.#waiting !== undefined) this.changed()
  }

  /** Adds a function that is called at each change (VIEW5); returns a function that removes it. */
  watch(changed: () => void): () => void {
    this.#waiting ??= new Set()
    this.#waiting.add(changed)
    return () => {
      this.#waiting?.delete(changed)
      if (this.#waiting?.size === 0) this.#waiting = undefined
    }
  }

  /** Calls those who wait for a change. */
  changed(): void {
    if (this.#waiting === undefined) return
    for (const waiting of this.#waiting) this.follower?.call(waiting)
  }

  /** Stores the draft, because the chat's process is gone or about to end. */
  cutShort(): void {
    const step = this.#step
    step?.drafts?.flush()
    step?.drafts?.end()
    if (step !== undefined) step.drafts = undefined
  }

  #endReply(): void {
    this.#step?.drafts?.end()
    this.#step = undefined
  }

  #forgetCalls(): void {
    this.#toolCalls = none
    this.#control = undefined
  }
}

/** How often the drafts of all chats are stored, and how. */
export interface DraftKeeping {
  readonly clock: Clock.Clock
  readonly everyMs: number
  readonly keep: (draft: Draft) => void
}

/** The drafts of one reply: its text while it streams, so that little is lost when the program ends. The step's collector has the text. */
export class Drafts {
  readonly #id: string
  readonly #keeping: DraftKeeping
  #collector: StreamCollector | undefined
  #timer: unknown
  #kept = ""

  /** Starts the timer, because a reply of the chat begins to stream. */
  constructor(id: string, keeping: DraftKeeping, collector: StreamCollector) {
    this.#id = id
    this.#keeping = keeping
    this.#collector = collector
    this.#arm()
  }

  /** Stops the timer when the reply has ended; its text is stored otherwise, or not at all. */
  end(): void {
    if (this.#collector === undefined) return
    this.#collector = undefined
    if (this.#timer !== undefined) this.#keeping.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** Stores the text now, if it has changed. */
  flush(): void {
    const text = this.#collector?.text ?? ""
    if (text === "" || text === this.#kept) return
    this.#kept = text
    this.#keeping.keep({ id: this.#id, text })
  }

  readonly #due = (): void => {
    this.flush()
    if (this.#collector?.completed === false) this.#arm()
  }

  #arm(): void {
    const { clock, everyMs } = this.#keeping
    if (everyMs < Infinity) this.#timer = inBackground(clock, this.#due, everyMs)
  }
}
