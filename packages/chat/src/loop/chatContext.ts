/** The input, events, output and context of the chat's chart. */
import type { Clock } from "@troupe/otp"
import type { PreflightError, SessionError } from "../errors/index.ts"
import type {
  ChatRecord,
  ChatResult,
  HaltedReason,
  Mode,
  OpenStep,
  PendingQuestion,
  StepResult
} from "../record/index.ts"
import type { AnswerForm } from "./questionAnswer.ts"
import type { Before, InboxWriter, InboxSettled, Mailbox, Turn } from "../inbox/index.ts"
import type { EventsTaken } from "../events/index.ts"
import type { Journal, StepWatcher } from "../step/index.ts"
import type { PermissionMode, Permissions } from "../gate/index.ts"
import type { Aside, Notified } from "./hookProgress.ts"
import type * as Thread from "../model/Thread.ts"
import type { ToolCall } from "../model/index.ts"
import type * as Usage from "../model/Usage.ts"
import type { Engine } from "../tool/index.ts"
import type { SaveRecord } from "../store/index.ts"

/**
 * The input of a chat's chart: a stored record, or one turn to run (CHAT5).
 *
 * **Units and defaults**: `suspendedTtlMs` is how long the chat waits for the user or for tool results, in milliseconds on
 * `clock`; by default without limit. `answer` is `"user_message"`.
 */
export interface ChatInput {
  readonly id: string
  readonly engine: Engine
  readonly record?: ChatRecord | undefined
  /** The text of the interrupted reply, if the record does not have it. */
  readonly cutOff?: string | undefined
  readonly thread?: Thread.Thread | undefined
  readonly turn?: Turn | undefined
  readonly commit?: SaveRecord | undefined
  readonly watcher?: StepWatcher | undefined
  readonly suspendedTtlMs?: number | undefined
  readonly clock?: Clock.Clock | undefined
  readonly answer?: AnswerForm | undefined
}

/**
 * The events of a chat.
 *
 * - `turn.start`: run a turn, at once or as its `whenBusy` requires
 * - `turn.cancel`: cancel the running turn; waiting turns stay
 * - `turn.deadline`, from the chat itself: the time of the running turn is over
 * - `events.taken`, from its own turn: the reader has read past `chat_completed`
 * - `journal.due`, from its running step: calls that write are about to start, or have ended
 * - `inbox.saved`, `inbox.failed`, from its store: the result of saving the waiting inputs
 * - `mode.set`: the host or a client sets the permission mode of calls from the next batch on
 * - `suspension.expired`, from its clock: no answer came in time
 * - `chat.leave`: end when no turn runs; the store has a newer record than the chat, or is about to
 */
export type ChatEvent =
  | { readonly type: "turn.start"; readonly turn: Turn }
  | { readonly type: "turn.cancel" }
  | { readonly type: "turn.deadline" }
  | { readonly type: "suspension.expired" }
  | { readonly type: "chat.leave" }
  | { readonly type: "journal.due" }
  | ModeSet
  | InboxSettled
  | EventsTaken

/** The output of a chat: the result or the refusal of its one turn, or nothing if it left. */
export type ChatOutput =
  | { readonly type: "left" }
  | { readonly type: "completed"; readonly result: ChatResult }
  | { readonly type: "refused"; readonly error: PreflightError }

/** The context in a chat's snapshot. */
export interface ChatContext {
  readonly id: string
  readonly engine: Engine
  readonly thread: Thread.Thread
  readonly usage: Usage.Usage
  readonly turn: Turn | undefined
  readonly mailbox: Mailbox
  /** Stores waiting inputs; created when the first input has to wait. */
  readonly keeper: InboxWriter | undefined
  /** The turns whose inputs are in the thread, but not yet confirmed as stored. */
  readonly arriving: ReadonlyArray<Turn>
  readonly before: Before | undefined
  /** The turn whose inputs could not be stored, for a retry. */
  readonly unstored: Turn | undefined
  /** The ids of the inputs in the thread: those of the last turn, and all that senders chose. */
  readonly inputs: ReadonlyArray<string>
  readonly known: ReadonlyArray<string>
  readonly steps: ReadonlyArray<StepResult>
  readonly cancelled: boolean
  /** Whether the turn's time is over, and whether it is counted at all. */
  readonly outOfTime: boolean
  readonly timed: boolean
  /** The hook events that have run, and the changes of hooks to the next request only. */
  readonly notified: Notified
  readonly aside: Aside | undefined
  /** The result of the first pass, while the second runs. */
  readonly firstPass: ChatResult | undefined
  /** Whether the context is stored. */
  readonly committed: boolean
  readonly result: ChatResult | undefined
  /** The error that kept a step from beginning. */
  readonly refusal: PreflightError | undefined
  /** The error of the store. */
  readonly failure: SessionError | undefined
  readonly lastHaltedReason: HaltedReason | undefined
  readonly pendingQuestion: PendingQuestion | undefined
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
  /** The step that is not over, while the chat waits for decisions or is to continue with them. */
  readonly open: OpenStep | undefined
  /** The running step's notes on its calls that write. */
  readonly journal: Journal | undefined
  /** The interrupted turn, until the next begins. */
  readonly interrupted: Interruption | undefined
  /** The permission mode of calls, if it differs from the options. */
  readonly modeKeeper: PermissionMode
  /** When the chat stops waiting for pending calls or answers; on the system's clock. */
  readonly expiresAt: number | undefined
  readonly once: boolean
  /** Whether the chat ends when the running turn has ended. */
  readonly leaving: boolean
  readonly commit: SaveRecord | undefined
  readonly watcher: StepWatcher | undefined
  readonly suspendedTtlMs: number | undefined
  readonly clock: Clock.Clock
  readonly answer: AnswerForm
}

/** The state that the messages of a beginning turn are added to. */
export type BeginState = Pick<
  ChatContext,
  "thread" | "open" | "pendingQuestion" | "unstored" | "interrupted" | "answer"
>

/** The state that decides whether a turn is to stop. */
export type StopState = Pick<ChatContext, "turn" | "cancelled" | "outOfTime">

/** The state that decides whether an input can join the turn. */
export type SteerState = StopState & Pick<ChatContext, "mailbox" | "result" | "firstPass" | "arriving">

/** The state that the input of the next step is made of. */
export type NextStepState = Pick<
  ChatContext,
  "turn" | "engine" | "thread" | "watcher" | "firstPass" | "aside" | "modeKeeper" | "journal"
>

/** The state that the result of a turn is made of. */
export type EndState = Pick<
  ChatContext,
  "turn" | "thread" | "steps" | "open" | "firstPass" | "pendingQuestion" | "modeKeeper" | "suspendedTtlMs" | "clock"
>

/** The state that the last events of a turn and the output of a chat are made of. */
export type ClosingState = Pick<ChatContext, "result" | "refusal" | "failure" | "leaving">

/** The part of a record that a running step leaves unchanged. */
export type StableState = Pick<
  ChatContext,
  | "id"
  | "turn"
  | "result"
  | "interrupted"
  | "lastHaltedReason"
  | "pendingQuestion"
  | "pendingToolCalls"
  | "mailbox"
  | "inputs"
  | "known"
  | "expiresAt"
  | "modeKeeper"
>

/** The state of a chat that its record is made of. */
export type RecordState = StableState & Pick<ChatContext, "thread" | "usage" | "open" | "journal" | "steps" | "watcher">

/** The text of the reply of an interrupted turn. */
export interface Interruption {
  readonly text: string
}

/**
 * Sets the mode of a chat; without `bound`, for the host.
 *
 * **Contract**: exactly one of the two functions is called, once. `counts` gets the promise of the save, if there is one
 * now; `refused` gets the loosest mode that the client may set.
 */
export interface ModeSet {
  readonly type: "mode.set"
  readonly mode: Mode
  readonly bound?: ModeBound | undefined
  readonly counts: (kept: void | Promise<void>) => void
  readonly refused: (bound: Mode) => void
}

/** The loosest mode that a client may set, and the permissions of the chat's options. */
interface ModeBound {
  readonly within: Mode | "host"
  readonly permissions: Permissions | undefined
}
