/** What a chat's chart is started with, told, and holds. */
import type { Clock } from "@troupe/otp"
import type { PreflightError, SessionError } from "../errors/ChatError.ts"
import type { ChatRecord } from "../record/ChatRecord.ts"
import type { ChatResult, HaltedReason, PendingQuestion } from "../record/ChatResult.ts"
import type { Engine } from "../options/Engine.ts"
import type { AnswerForm } from "./questionAnswer.ts"
import type { Before } from "../inbox/uncommittedInputs.ts"
import type { Interruption } from "./interruption.ts"
import type { Delivery } from "../inbox/inputReceipt.ts"
import type { EventsTaken } from "../events/finalEvents.ts"
import type { Journal } from "../step/journal.ts"
import type { Decided, OpenStep } from "../step/openCalls.ts"
import type { InboxKeeper, InboxSettled } from "../inbox/inboxWriter.ts"
import type { Mailbox } from "../inbox/inboxQueue.ts"
import type { ModeSet } from "./setMode.ts"
import type { Outlet } from "../events/outlet.ts"
import type { PermissionMode } from "../gate/permissionMode.ts"
import type { RunOptions } from "../options/resolveOptions.ts"
import type { Aside, Told } from "./hookProgress.ts"
import type { Message } from "../model/Message.ts"
import type { StepWatcher } from "../step/StepMachine.ts"
import type { StepResult } from "../record/StepResult.ts"
import type * as Thread from "../model/Thread.ts"
import type { ToolCall } from "../model/ToolCall.ts"
import type * as Usage from "../model/Usage.ts"

/**
 * One turn: what it adds to the thread, its options, and where its events go.
 *
 * **Details**: `messages` is empty for a turn that only goes on, and holds tool messages when the caller answers calls.
 * `retry` drops the replies after the last question or tool result first, but not one whose calls are open. `decisions` are
 * about calls that wait for them.
 */
export interface Turn {
  readonly retry?: boolean | undefined
  readonly messages: ReadonlyArray<Message>
  readonly decisions?: ReadonlyArray<Decided> | undefined
  readonly options: RunOptions
  readonly outlet: Outlet
  /** What its sender knows of the input; absent where nobody asks. */
  readonly delivery?: Delivery | undefined
}

/** Keeps a chat's record; the next phase waits for it. */
export type Commit = (record: ChatRecord) => void | Promise<void>

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
  readonly commit?: Commit | undefined
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
  readonly keeper: InboxKeeper | undefined
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
  readonly told: Told
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
  readonly commit: Commit | undefined
  readonly watcher: StepWatcher | undefined
  readonly suspendedTtlMs: number | undefined
  readonly clock: Clock.Clock
  readonly answer: AnswerForm
}
