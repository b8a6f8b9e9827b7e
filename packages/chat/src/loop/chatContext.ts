/** What a chat's chart is started with, told, and holds. */
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
 * What a chat's chart is started with: a record to live from, or one turn to run (CHAT5).
 *
 * **Units and defaults**: `suspendedTtlMs` is how long the chat waits for the user or for tool results, in milliseconds on
 * `clock`; by default for ever. `answer` is `"user_message"`.
 */
export interface ChatInput {
  readonly id: string
  readonly engine: Engine
  readonly record?: ChatRecord | undefined
  /** What the interrupted reply had said, where the record does not have it. */
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
 * What a chat can be told.
 *
 * - `turn.start`: run a turn, now or as its delivery says
 * - `turn.cancel`: end the running turn; the ones waiting are kept
 * - `turn.deadline`, from itself: the running turn's time is over
 * - `events.taken`, from its own turn: the reader asked past `chat_completed`
 * - `journal.due`, from its own running step: calls that write want to start, or have ended
 * - `inbox.saved`, `inbox.failed`, from its own store: what became of the inputs that wait
 * - `mode.set`: the host or a client says by which mode calls are judged from the next batch on
 * - `suspension.expired`, from its own clock: nobody answered in time
 * - `chat.leave`: end when no turn runs; what the store has is newer than what the chat knows, or is to be
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

/** What a chat ends with: one that ran one turn, with what that came to; one that left, with nothing. */
export type ChatOutput =
  | { readonly type: "left" }
  | { readonly type: "completed"; readonly result: ChatResult }
  | { readonly type: "refused"; readonly error: PreflightError }

/** What a chat's snapshot holds. */
export interface ChatContext {
  readonly id: string
  readonly engine: Engine
  readonly thread: Thread.Thread
  readonly usage: Usage.Usage
  readonly turn: Turn | undefined
  readonly mailbox: Mailbox
  /** Has arriving inputs stored; made when the first has to wait. */
  readonly keeper: InboxWriter | undefined
  /** The turns whose inputs are in the thread, and not known to be stored there. */
  readonly arriving: ReadonlyArray<Turn>
  readonly before: Before | undefined
  /** The turn whose beginning could not be stored, for a retry. */
  readonly unstored: Turn | undefined
  /** The ids of the inputs in the thread: those of the last turn, and all that senders chose. */
  readonly inputs: ReadonlyArray<string>
  readonly known: ReadonlyArray<string>
  readonly steps: ReadonlyArray<StepResult>
  readonly cancelled: boolean
  /** Whether the turn's time is over, and whether it is counted at all. */
  readonly outOfTime: boolean
  readonly timed: boolean
  /** What the hooks have heard of, and what they want of the next request alone. */
  readonly notified: Notified
  readonly aside: Aside | undefined
  /** What the first pass came to, while the second runs. */
  readonly firstPass: ChatResult | undefined
  /** Whether the store has what the context holds. */
  readonly committed: boolean
  readonly result: ChatResult | undefined
  /** What went wrong before a step could begin. */
  readonly refusal: PreflightError | undefined
  /** What the store failed with. */
  readonly failure: SessionError | undefined
  readonly lastHaltedReason: HaltedReason | undefined
  readonly pendingQuestion: PendingQuestion | undefined
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
  /** The step that is not over, while the chat waits for decisions or is to go on with them. */
  readonly open: OpenStep | undefined
  /** What the running step notes of its calls that write. */
  readonly journal: Journal | undefined
  /** The turn that was cut short, until the next begins. */
  readonly interrupted: Interruption | undefined
  /** The mode that calls are judged by, where it is another than the options say. */
  readonly modeKeeper: PermissionMode
  /** Until when the chat waits for what is pending; on the system's clock. */
  readonly expiresAt: number | undefined
  readonly once: boolean
  /** Whether it ends when the running turn has ended. */
  readonly leaving: boolean
  readonly commit: SaveRecord | undefined
  readonly watcher: StepWatcher | undefined
  readonly suspendedTtlMs: number | undefined
  readonly clock: Clock.Clock
  readonly answer: AnswerForm
}

/** What is known of the turn that was cut short: the text of its reply. */
export interface Interruption {
  readonly text: string
}

/**
 * Sets the mode of a chat; without `bound`, for the host.
 *
 * **Contract**: one of the two functions is called, once. `counts` is called with the save, where there is one now; `refused`
 * with the loosest mode that the client may set.
 */
export interface ModeSet {
  readonly type: "mode.set"
  readonly mode: Mode
  readonly bound?: ModeBound | undefined
  readonly counts: (kept: void | Promise<void>) => void
  readonly refused: (bound: Mode) => void
}

/** A client sets the mode: the loosest it may set, and the permissions of the chat's options. */
interface ModeBound {
  readonly within: Mode | "host"
  readonly permissions: Permissions | undefined
}
