/**
 * The snapshots of a chat: its live state, with the text so far and the states of its tool calls.
 *
 * Owns: the observers, and the timer that notifies them. Does not own the state, which it only reads. Text passes through no chart: it
 * is read from the collector on demand, and observers are notified at most once per interval.
 *
 * VIEW1. A snapshot is the same object until the state changes.
 * VIEW2. Without observers there is no timer.
 * VIEW3. The log gets an exception thrown by an observer; other observers still run.
 * VIEW4. The last snapshot of a stopped chat is at rest: a running turn becomes `ended`, with the status `stopped`. The last
 *        snapshot of a chat that has left is `ended` too, with the phase `moved` and the text of the reply so far.
 * VIEW6. A snapshot shows results, steps and errors as the values themselves, and the running turn with its live part.
 */
import type { System } from "@troupe/otp"
import {
  type BackgroundTask,
  type ChatResult,
  type Conversation,
  type ConversationStatus,
  type InboxEntry,
  type Mode,
  type PendingApproval,
  statusOf,
  type StepResult,
  type TaskStatus
} from "../record/index.ts"
import type { PreflightError, SessionError } from "../errors/index.ts"
import { type Held, original } from "../values/index.ts"
import * as Inbox from "../inbox/Inbox.ts"
import { isInterrupted, type Turn } from "../inbox/index.ts"
import type { Engine } from "../tool/index.ts"
import { type ChatContext, type ChatEnv, chatMachine } from "../loop/index.ts"
import type { Event, RequestDelayed } from "../events/index.ts"
import { callUnawaited } from "../async/index.ts"
import * as Usage from "../model/Usage.ts"
import { type Inspect, inspected, type PartialReply, printed, withObject } from "../json/index.ts"
import { askedFormat, isJson } from "../options/index.ts"
import { pendingApprovalsOf, taskApprovals } from "../step/index.ts"
import type { ToolCallView } from "../call/index.ts"
import { CallFeed } from "./callFeed.ts"
import { ChildViews, type FollowedChild, type Follower } from "./childViews.ts"
import type { ChatState, LiveState, MachineSnapshot } from "./liveState.ts"

/** The parts of the machine's context that a snapshot shows as the values themselves. */
type Shown = "steps" | "firstPass" | "result" | "refusal" | "failure" | "turn"

/**
 * The activity of a chat: the state of its machine in one word. (`ChatStatus` is how its last turn ended, and what it waits
 * for.)
 *
 * - `idle`: none; it waits for nothing
 * - `interrupted`: none; its program ended during a turn, and `retry` continues it
 * - `awaitingUser`, `awaitingTools`, `awaitingApproval`: none; it waits for an answer, for tool results, or for decisions
 *   about tool calls
 * - `committing`: the store saves a record
 * - `requesting`: a model request is being opened
 * - `streaming`: the reply of the model streams
 * - `compacting`: a model writes the summary of a long thread
 * - `runningTools`: tools run
 * - `runningHooks`: hooks run
 * - `completing`: the turn's last event is being read
 * - `moved`: none here; the chat has left this process (`LocalChatRef.leave`), and its next start continues it
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
  | "compacting"
  | "runningTools"
  | "runningHooks"
  | "completing"
  | "moved"

/** The status of a chat: `running` while a turn runs, else that of its conversation. */
export type ChatStatus = ConversationStatus | "running"

/** The context of a chat's snapshot, in addition to the machine's: `usage` includes the running request. */
export interface LiveContext
  extends
    Omit<ChatContext, Shown | "inbox" | "partial" | "record">,
    Omit<Conversation, "inbox" | "tasks" | "permissionMode" | "status"> {
  readonly engine: Engine
  /** The running turn. */
  readonly turn: Turn | undefined
  readonly steps: ReadonlyArray<StepResult>
  /** The result of the first pass, while the second runs. */
  readonly firstPass: ChatResult | undefined
  readonly result: ChatResult | undefined
  /** The error that kept a step from beginning. */
  readonly refusal: PreflightError | undefined
  /** The error of the store. */
  readonly failure: SessionError | undefined
  readonly phase: ChatPhase
  readonly status: ChatStatus
  /**
   * The running step's reply so far, with its object if it is JSON by its `responseFormat`; empty once it is in the thread.
   */
  readonly partial: PartialReply
  /** The wait of the running request before it is sent again, if it takes more than a second; until the reply begins. */
  readonly delayed: RequestDelayed | undefined
  /** The calls of the running step, or of the last one until the next begins; empty between turns. */
  readonly toolCalls: ReadonlyArray<ToolCallView>
  /** The background tasks whose end the thread does not have. */
  readonly tasks: ReadonlyArray<ShownTask>
  /** The calls that wait for a decision, in call order; then those of sub-agents in the background, which have a `task`. */
  readonly pendingApprovals: ReadonlyArray<PendingApproval>
  /** The permission mode of calls of the next batch. */
  readonly permissionMode: Mode
  /** The interrupted turn, until the next begins. */
  readonly interrupted: { readonly text: string } | undefined
  /** The inputs that wait; those that wait for their release come first. */
  readonly inbox: ReadonlyArray<InboxEntry>
}

/** A chat's snapshot: the machine's, with the state of the running step. */
export type ChatSnapshot = Omit<MachineSnapshot, "context"> & { readonly context: LiveContext }

/** The text of an interrupted reply. */
const cutTextOf = (context: ChatContext): string => (isInterrupted(context) ? (context.record.draft ?? "") : "")

/** The prototype of a snapshot, which prints it as a small object (SHOWN1). */
const printable = {
  [inspected](this: ChatSnapshot, _depth: number, options: object, inspect: Inspect): string {
    return printed("ChatSnapshot", shownSnapshot.call(this), options, inspect)
  }
}

/** The JSON form of a snapshot (SHOWN2); replaces the machine's own `toJSON`. */
function shownSnapshot(this: ChatSnapshot) {
  const { phase, thread, partial, toolCalls } = this.context
  const calls = toolCalls.map(({ name, status }) => `${name}: ${status}`)
  return { status: this.status, phase, messages: thread.messages.length, partial: partial.text, toolCalls: calls }
}

/** Called with snapshots. */
export interface SnapshotObserver {
  readonly next?: ((snapshot: ChatSnapshot) => void) | undefined
  readonly error?: ((error: unknown) => void) | undefined
  readonly complete?: (() => void) | undefined
}

/** How long changes of text are batched before observers are notified, in milliseconds. */
const flushMs = 32

/**
 * A background task, as a user interface shows it.
 *
 * - `status`: `running`, `waiting` while its sub-agent waits for a person, or how it ended, until the thread has its end
 * - `progress`: the last `progress` value of its handler
 *
 * **Units**: `startedAt` is in milliseconds since the epoch.
 */
export interface ShownTask extends Pick<BackgroundTask, "id" | "toolCallId" | "tool" | "agent" | "startedAt"> {
  readonly status: "running" | "waiting" | TaskStatus
  readonly progress: unknown
}

const noTasks: ReadonlyArray<never> = []

/** The lengths of the reply's texts, how often it was rewritten, the phase, and the reply with the object that was read from it. */
interface Seen {
  readonly text: number
  readonly reasoning: number
  readonly rewritten: number
  readonly phase: ChatPhase
  partial: PartialReply | undefined
}

export class LiveView {
  readonly #system: System.System
  readonly #mode: Mode
  readonly state: LiveState
  #observers: Set<SnapshotObserver> | undefined
  #env: ChatEnv | undefined
  /** The background tasks of the chat; `shownChanged` follows each change. */
  tasks: ReadonlyArray<ShownTask> | undefined
  #snapshot: ChatSnapshot | undefined
  /** What the snapshot has. */
  #seen: Seen | undefined
  #timer: unknown
  /** The states of the calls, for their readers (CALLS4). */
  #calls: { readonly feed: CallFeed; readers: number } | undefined
  /** The children of the running calls, if they are shown. */
  #children: ChildViews | undefined
  /** The chat whose child this one is, if it shows its children. */
  follower: Follower | undefined
  #isMoved = false

  /** `mode` is the permission mode of the chat's options. */
  constructor(system: System.System, state: LiveState, mode: Mode = "default") {
    this.#system = system
    this.#mode = mode
    this.state = state
    state.follower = this
  }

  stepStarted(): void {
    this.#children = undefined
    this.#snapshot = undefined
    this.#calls?.feed.stepOver()
  }

  /** The calls have changed; the call of this id has reported progress. */
  callsChanged(id?: string): void {
    this.#snapshot = undefined
    this.changed()
    this.#calls?.feed.changed(id)
    this.follower?.callsChanged()
  }

  /** A child of a call or the tasks have changed. */
  shownChanged(): void {
    this.#snapshot = undefined
    this.changed()
    this.follower?.changed()
  }

  /** Adds a reader of the states of the calls. */
  readCalls(chat: string): CallFeed {
    const calls = (this.#calls ??= { feed: new CallFeed(this.#system, chat, () => this.#toolCalls), readers: 0 })
    calls.readers += 1
    return calls.feed
  }

  /** Removes a reader of the states of the calls (CALLS4). */
  leaveCalls(): void {
    const calls = this.#calls
    if (calls === undefined || --calls.readers > 0) return
    calls.feed.close()
    this.#calls = undefined
  }

  get #toolCalls(): ReadonlyArray<ToolCallView> {
    const { toolCalls } = this.state
    return this.#children?.shownIn(toolCalls) ?? toolCalls
  }

  transitioned(isPassing: boolean, isBetweenTurns: boolean): void {
    this.#snapshot = undefined
    if (isPassing) return
    if (isBetweenTurns) {
      this.#children = undefined
      this.#calls?.feed.stepOver()
    }
    if (this.#observers !== undefined) this.#notify()
    this.follower?.changed()
  }

  /** Handles an event of the chat. */
  published(event: Event): void {
    this.follower?.event(event)
    if (event.type === "tool_execution_completed") this.#children?.ended(event.id)
    if (event.type !== "message_started" && event.type !== "request_delayed") {
      if (this.#observers !== undefined) this.changed()
      return
    }
    this.#snapshot = undefined
    if (this.#observers !== undefined) this.#notify()
    this.follower?.changed()
    this.state.changed()
  }

  /** The child of a call is shown from here on; returns whether it still is. */
  follow(toolCallId: string, child: FollowedChild): () => boolean {
    const children = (this.#children ??= new ChildViews())
    children.follow(toolCallId, child)
    return () => this.#children?.has(toolCallId, child) === true
  }

  /** A new process of the chat has this environment. */
  attached(env: ChatEnv): void {
    this.#env = env
  }

  /** Schedules a notification of the observers. */
  changed(): void {
    if (this.#observers === undefined || this.#timer !== undefined) return
    this.#timer = this.#system.clock.setTimeout(() => {
      this.#timer = undefined
      this.#notify()
    }, flushMs)
  }

  get isObserved(): boolean {
    return this.#observers !== undefined
  }

  /** The running turn. */
  get turn(): Turn | undefined {
    const { context } = this.state
    return context?.result === undefined ? this.#env?.find(context?.turn?.id) : undefined
  }

  /** The present snapshot (VIEW1). */
  snapshot(): ChatSnapshot | undefined {
    const { machine, collector, control } = this.state
    const env = this.#env
    if (machine === undefined || env === undefined) return undefined
    const text = collector?.text ?? cutTextOf(machine.context)
    const reasoning = collector?.reasoning ?? ""
    const rewritten = collector?.rewritten ?? 0
    const { context } = machine
    const turn = env.find(context.turn?.id)
    const phase = this.#isMoved ? "moved" : phaseOf(machine, turn, control === undefined)
    const seen = this.#seen
    if (
      this.#snapshot === undefined ||
      text.length !== seen?.text ||
      reasoning.length !== seen.reasoning ||
      rewritten !== seen.rewritten ||
      phase !== seen.phase
    ) {
      const seenNow = { text: text.length, reasoning: reasoning.length, rewritten, phase, partial: seen?.partial }
      this.#seen = seenNow
      const live: ChatSnapshot & { readonly __proto__: object } = {
        __proto__: printable,
        ...chatMachine.resolveState(machine),
        status: machine.status,
        context: this.#liveContext(context, {
          env,
          turn,
          phase,
          seen: seenNow,
          partial: reasoning === "" ? { text } : { text, reasoning }
        }),
        toJSON: shownSnapshot
      }
      this.#snapshot = live
    }
    return this.#snapshot
  }

  #liveContext(context: ChatContext, { env, turn, phase, seen, partial }: Live): LiveContext {
    const { record, ...state } = context
    const serving = env.serving(record.open?.agent ?? record.agent?.name)
    const { collector } = this.state
    return {
      ...state,
      ...record,
      engine: serving?.engine ?? env.engine,
      turn,
      steps: context.steps.map(original),
      firstPass: valueOf(context.firstPass),
      result: valueOf(context.result),
      refusal: valueOf(context.refusal),
      failure: valueOf(context.failure),
      phase,
      partial: partialOf(context, { turn, seen, partial }),
      delayed: collector?.delayed,
      toolCalls: this.#toolCalls,
      tasks: this.tasks ?? noTasks,
      permissionMode:
        record.permissionMode?.mode ??
        (serving === undefined ? this.#mode : (serving.chatOptions.permissions?.mode ?? "default")),
      usage: collector === undefined ? record.usage : Usage.add(record.usage, collector.usage),
      interrupted: isInterrupted(context) ? { text: record.draft ?? "" } : undefined,
      get pendingApprovals() {
        const own = pendingApprovalsOf(record.thread, record.open)
        return record.tasks === undefined ? own : [...own, ...taskApprovals(record.tasks)]
      },
      get status() {
        const isRunning = context.turn !== undefined || phase === "committing"
        return isRunning ? "running" : statusOf(record)
      },
      get inbox() {
        return Inbox.entries(context.inbox)
      }
    }
  }

  subscribe(observer: SnapshotObserver): { readonly unsubscribe: () => void } {
    this.#observers ??= new Set()
    this.#observers.add(observer)
    return { unsubscribe: () => this.#forget(observer) }
  }

  /** Ends the view of a stopped chat (VIEW4). `cutOff` is the text of the reply of a chat that has left. */
  stopped(cutOff?: string): void {
    this.#isMoved = cutOff !== undefined
    const { machine, isResting } = this.state
    if (machine !== undefined && (this.#isMoved || !isResting)) {
      const isCut = cutOff !== undefined && cutOff !== ""
      const record = isCut ? { ...machine.context.record, running: true, draft: cutOff } : machine.context.record
      const context = { ...machine.context, turn: undefined, record }
      this.state.transitioned({ status: "stopped", value: "ended", context, current: context })
    }
    this.complete()
  }

  /** Completes all observers: no more snapshots follow. */
  complete(): void {
    for (const observer of Array.from(this.#observers ?? [])) {
      this.#forget(observer)
      this.call(() => observer.complete?.())
    }
  }

  #forget(observer: SnapshotObserver): void {
    this.#observers?.delete(observer)
    if (this.#observers?.size === 0) this.#observers = undefined
    if (this.#observers !== undefined || this.#timer === undefined) return
    this.#system.clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #notify(): void {
    if (this.#observers === undefined) return
    const snapshot = this.snapshot()
    if (snapshot === undefined) return
    for (const observer of Array.from(this.#observers ?? [])) this.call(() => observer.next?.(snapshot))
  }

  /** VIEW3 */
  call(observer: () => unknown): void {
    callUnawaited(this.#system, "An observer of a chat failed", observer)
  }
}

const valueOf = <A>(data: Held<A> | undefined): A | undefined => (data === undefined ? undefined : original(data))

/** What a live context has that the machine's has not. */
interface Live {
  readonly env: ChatEnv
  readonly turn: Turn | undefined
  readonly phase: ChatPhase
  readonly seen: Seen
  readonly partial: PartialReply
}

/** The reply so far, with its object if it is JSON. */
const partialOf = (
  { record: { thread } }: ChatContext,
  { turn, seen, partial }: Pick<Live, "turn" | "seen" | "partial">
): PartialReply => {
  const asJson = partial.text !== "" && isJson(askedFormat(thread) ?? turn?.options.responseFormat)
  seen.partial = asJson ? withObject(seen.partial, partial) : partial
  return seen.partial
}

const phaseOf = ({ value }: ChatState, turn: Turn | undefined, noTools: boolean): ChatPhase => {
  if (value === "withdrawing" || value === "expiring") return "committing"
  if (typeof value === "string") return value === "settled" || value === "ended" ? "idle" : value
  const { running } = value
  switch (running) {
    case "phaseB":
      return "runningTools"
    case "phaseA":
    case "phaseC":
      return !noTools ? "runningTools" : turn?.outlet.isFlowing === true ? "streaming" : "requesting"
    case "planning":
    case "compacting":
      return "compacting"
    case "hooking":
      return "runningHooks"
    default:
      return typeof running === "string" ? "completing" : "committing"
  }
}
