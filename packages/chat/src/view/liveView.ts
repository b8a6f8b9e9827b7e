/**
 * What can be seen of a running chat between its transitions: the text so far and the states of its tool calls.
 *
 * Owns: the observers, and the timer that tells them. Text passes no chart: it is read off the collector when somebody
 * looks, and told at most once in an interval.
 *
 * VIEW1. A snapshot is the same object until something changed.
 * VIEW2. Without observers there is no timer.
 * VIEW3. An observer that throws is told to nobody and stops nobody.
 * VIEW4. The last snapshot of a chat that is stopped is at rest: where a turn was, it is `ended`, with the status `stopped`.
 * VIEW5. Who records is told at once of what the machine and the calls go through, and of no text.
 */
import type { Clock, Pid } from "@troupe/otp"
import type { SnapshotFrom } from "xstate"
import type { InboxEntry, Mode, PendingApproval } from "../record/index.ts"
import type { ChatContext, chatMachine } from "../loop/index.ts"
import type { StreamCollector } from "../events/index.ts"
import * as Usage from "../model/Usage.ts"
import type { Drafts } from "../store/index.ts"
import { type Inspect, inspected, printed } from "../json/index.ts"
import { pendingApprovalsOf, type StepWatcher } from "../step/index.ts"
import type { CallCommand, ToolCallView } from "../call/index.ts"

type MachineSnapshot = SnapshotFrom<typeof chatMachine>

/**
 * What a chat is doing.
 *
 * - `idle`: nothing; it has what it needs
 * - `interrupted`: nothing; its program ended in the middle of a turn, and `retry` goes on
 * - `awaitingUser`, `awaitingTools`, `awaitingApproval`: nothing; it waits for an answer, for tool results, or for decisions
 *   about tool calls
 * - `committing`: the store is asked to keep something
 * - `requesting`: a model request is being opened
 * - `streaming`: the model answers
 * - `runningTools`: tools run
 * - `runningHooks`: hooks are told, and may have a say
 * - `completing`: the turn's last event is on its way
 */
export type ChatPhase =
  | "idle"
  | "interrupted"
  | "awaitingUser"
  | "awaitingTools"
  | "awaitingApproval"
  | "committing"
  | "requesting"
  | "streaming"
  | "runningTools"
  | "runningHooks"
  | "completing"

/** What a chat's snapshot holds beside the machine's own context: `usage` is that of the running request too. */
export interface LiveContext extends ChatContext {
  readonly phase: ChatPhase
  /** The running step's answer as far as it has come; empty when it is in the thread. */
  readonly partial: { readonly text: string }
  /** The calls of the running step, or of the last until the next begins; empty between turns. */
  readonly toolCalls: ReadonlyArray<ToolCallView>
  /** The calls that wait for a decision, in call order. */
  readonly pendingApprovals: ReadonlyArray<PendingApproval>
  /** The mode that calls of the next batch are judged by. */
  readonly permissionMode: Mode
  /** The inputs that wait, those an earlier life of the chat left first. */
  readonly inbox: ReadonlyArray<InboxEntry>
}

/** A chat's snapshot: the machine's, with what is under way. */
export type ChatSnapshot = Omit<MachineSnapshot, "context"> & { readonly context: LiveContext }

/** What a snapshot inherits: it is printed as a small object (SHOWN1). */
const printable = {
  [inspected](this: ChatSnapshot, _depth: number, options: object, inspect: Inspect): string {
    return printed("ChatSnapshot", shownSnapshot.call(this), options, inspect)
  }
}

/** What the JSON text of a snapshot holds (SHOWN2): it stands in the place of the machine's own `toJSON`. */
function shownSnapshot(this: ChatSnapshot) {
  const { phase, thread, partial, toolCalls } = this.context
  const calls = toolCalls.map(({ name, status }) => `${name}: ${status}`)
  return { status: this.status, phase, messages: thread.messages.length, partial: partial.text, toolCalls: calls }
}

/** Told about snapshots. */
export interface SnapshotObserver {
  readonly next?: ((snapshot: ChatSnapshot) => void) | undefined
  readonly error?: ((error: unknown) => void) | undefined
  readonly complete?: (() => void) | undefined
}

/** How long text gathers before observers hear of it, in milliseconds. */
const flushMs = 32

/** Where a chat does nothing. */
const resting: ReadonlySet<unknown> = new Set<MachineSnapshot["value"]>([
  "idle",
  "interrupted",
  "awaitingUser",
  "awaitingTools",
  "awaitingApproval",
  "ended"
])

const nothing: ReadonlyArray<ToolCallView> = []
const none = (): ReadonlyArray<ToolCallView> => nothing

export class LiveView implements StepWatcher {
  readonly #clock: Clock.Clock
  readonly #mode: Mode
  readonly #drafts: Drafts | undefined
  readonly #observers = new Set<SnapshotObserver>()
  #machine: MachineSnapshot | undefined
  #collector: StreamCollector | undefined
  #toolCalls: () => ReadonlyArray<ToolCallView> = none
  #batch: Pid<CallCommand> | undefined
  #snapshot: ChatSnapshot | undefined
  #seenLength = -1
  #seenRewritten = 0
  #seenPhase: ChatPhase | undefined
  /** How many steps of the turn were over when the running one began: those have their text and usage in the context. */
  #stepsBefore = 0
  #timer: unknown
  #recorders: Set<() => void> | undefined

  /** `mode` is the permission mode of the chat's options. */
  constructor(clock: Clock.Clock, mode: Mode = "default", drafts?: Drafts) {
    this.#clock = clock
    this.#mode = mode
    this.#drafts = drafts
  }

  stepStarted(collector: StreamCollector): void {
    this.#collector = collector
    this.#drafts?.begin(collector)
    this.#stepsBefore = this.#machine?.context.steps.length ?? 0
    this.#forgetToolCalls()
    this.#snapshot = undefined
  }

  toolCallsChanged(view: () => ReadonlyArray<ToolCallView>, batch: Pid<CallCommand> | undefined): void {
    this.#toolCalls = view
    this.#batch = batch
    this.#snapshot = undefined
    this.changed()
    this.#seen()
  }

  #endReply(): void {
    this.#collector = undefined
    this.#drafts?.end()
  }

  /** The chat's process is gone, or is to end: what its reply had said can be said no better than now. */
  cutShort(): void {
    this.#drafts?.flush()
    this.#drafts?.end()
  }

  #forgetToolCalls(): void {
    this.#toolCalls = none
    this.#batch = undefined
  }

  /** The calls of the running step that are not over, and the process that runs them. */
  get running(): { readonly batch: Pid<CallCommand> | undefined; readonly calls: ReadonlyArray<ToolCallView> } {
    return { batch: this.#batch, calls: this.#toolCalls().filter(({ status }) => status !== "done") }
  }

  /** The machine took a transition. */
  transitioned(machine: MachineSnapshot): void {
    this.#machine = machine
    const { turn, steps } = machine.context
    if (turn === undefined || steps.length > this.#stepsBefore) this.#endReply()
    if (turn === undefined) this.#forgetToolCalls()
    this.#snapshot = undefined
    this.#notify()
    this.#seen()
  }

  /** Has a function called at each change of state (VIEW5); answers how to stop. */
  record(seen: () => void): () => void {
    this.#recorders ??= new Set()
    this.#recorders.add(seen)
    return () => {
      this.#recorders?.delete(seen)
      if (this.#recorders?.size === 0) this.#recorders = undefined
    }
  }

  #seen(): void {
    if (this.#recorders !== undefined) for (const seen of this.#recorders) attempt(seen)
  }

  /** What the running step's reply has said. */
  said(steps: number = this.#stepsBefore): string {
    return steps === this.#stepsBefore ? (this.#collector?.text ?? "") : ""
  }

  /** Something is worth telling, soon. */
  changed(): void {
    if (this.#observers.size === 0 || this.#timer !== undefined) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      this.#notify()
    }, flushMs)
  }

  /** The machine's state, the same object until it changed. */
  get standing(): MachineSnapshot | undefined {
    return this.#machine
  }

  /** Whether nothing is under way, and nothing waits to be run. */
  get isAtRest(): boolean {
    const machine = this.#machine
    return machine === undefined || (resting.has(machine.value) && machine.context.mailbox.entries.length === 0)
  }

  get isObserved(): boolean {
    return this.#observers.size > 0
  }

  /** The machine's own context; `undefined` before there was a process. */
  get context(): ChatContext | undefined {
    return this.#machine?.context
  }

  /** The present snapshot (VIEW1). */
  snapshot(): ChatSnapshot | undefined {
    const machine = this.#machine
    if (machine === undefined) return undefined
    const text = this.#collector?.text ?? machine.context.interrupted?.text ?? ""
    const rewritten = this.#collector?.rewritten ?? 0
    const phase = phaseOf(machine, this.#batch === undefined)
    if (
      this.#snapshot === undefined ||
      text.length !== this.#seenLength ||
      rewritten !== this.#seenRewritten ||
      phase !== this.#seenPhase
    ) {
      this.#seenLength = text.length
      this.#seenRewritten = rewritten
      this.#seenPhase = phase
      const context = this.#liveContext(machine.context, phase, text)
      const live: ChatSnapshot & { readonly __proto__: object } = {
        __proto__: printable,
        ...machine,
        context,
        toJSON: shownSnapshot
      }
      this.#snapshot = live
    }
    return this.#snapshot
  }

  #liveContext(context: ChatContext, phase: ChatPhase, text: string): LiveContext {
    const collector = this.#collector
    return {
      ...context,
      phase,
      partial: { text },
      toolCalls: this.#toolCalls(),
      permissionMode: context.modeKeeper.standing?.mode ?? this.#mode,
      usage: collector === undefined ? context.usage : Usage.add(context.usage, collector.usage),
      get pendingApprovals() {
        return pendingApprovalsOf(context.thread, context.open)
      },
      get inbox() {
        return context.mailbox.entries
      }
    }
  }

  subscribe(observer: SnapshotObserver): { readonly unsubscribe: () => void } {
    this.#observers.add(observer)
    return { unsubscribe: () => this.#forget(observer) }
  }

  /** The chat was stopped (VIEW4): no more snapshots will come. */
  stopped(): void {
    const machine = this.#machine
    if (machine !== undefined && !resting.has(machine.value)) {
      const context = { ...machine.context, turn: undefined }
      this.transitioned({ ...machine, status: "stopped", value: "ended", context } as MachineSnapshot)
    }
    this.complete()
  }

  /** No more snapshots will come. */
  complete(): void {
    for (const observer of Array.from(this.#observers)) {
      this.#forget(observer)
      attempt(() => observer.complete?.())
    }
  }

  #forget(observer: SnapshotObserver): void {
    this.#observers.delete(observer)
    if (this.#observers.size > 0 || this.#timer === undefined) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #notify(): void {
    if (this.#observers.size === 0) return
    const snapshot = this.snapshot()
    if (snapshot === undefined) return
    for (const observer of Array.from(this.#observers)) attempt(() => observer.next?.(snapshot))
  }
}

const phaseOf = ({ value, context }: MachineSnapshot, noTools: boolean): ChatPhase => {
  switch (value) {
    case "idle":
    case "interrupted":
    case "awaitingUser":
    case "awaitingTools":
    case "awaitingApproval":
      return value
    case "settled":
    case "ended":
      return "idle"
    case "expiring":
      return "committing"
    default:
      if (value.running === "resuming") return "runningTools"
      if (value.running === "stepping")
        return !noTools ? "runningTools" : context.turn?.outlet.isFlowing === true ? "streaming" : "requesting"
      if (value.running === "hooking") return "runningHooks"
      return value.running === "deciding" || value.running === "completing" ? "completing" : "committing"
  }
}

const attempt = (notify: () => void): void => {
  try {
    notify()
  } catch {
    // An observer's fault is its own (VIEW3).
  }
}
