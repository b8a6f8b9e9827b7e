/**
 * A chat as a user interface shows it: plain data, the same for a chat in this program and for one behind a server.
 *
 * @module
 */
import type { PendingApproval } from "./Approval.ts"
import type { HaltedReason, PendingQuestion } from "./ChatResult.ts"
import type { ChatPhase, ChatSnapshot } from "./internal/liveView.ts"
import type { ToolCallView } from "./internal/toolCallView.ts"
import type { Message } from "./Message.ts"
import type { Mode } from "./Permissions.ts"
import type { ToolCall } from "./ToolCall.ts"
import type { Usage } from "./Usage.ts"

/** A running call; `process` is the text of its pid. */
export type CallView = Omit<ToolCallView, "pid"> & { readonly process: string | undefined }

/** What a chat shows of an error: no stack, no cause. */
export interface ErrorView {
  readonly name: string
  readonly reason: string | undefined
  readonly message: string
}

/** An input that waits for its turn. */
export interface InputView {
  readonly id: string
  readonly message: Message
}

/**
 * What is shown of a chat.
 *
 * **Details**: it has a JSON form as it is. Parts that did not change are the same objects as in the view before.
 *
 * - `phase`: what it is doing; `interrupted` when a turn was cut short by the end of its program, and `retry` goes on
 * - `messages`: the thread as committed
 * - `partial`: the reply that streams, or the interrupted one as far as it is known
 * - `toolCalls`: the calls of the running step, or of the last until the next begins
 * - `question`: what a tool asks; `approvals`: the calls that wait for a decision; `pendingToolCalls`: those whose results the
 *   caller gives
 * - `error`: what the last turn failed with, until the next begins
 */
export interface ChatView {
  readonly id: string
  readonly phase: ChatPhase
  readonly messages: ReadonlyArray<Message>
  readonly partial: { readonly text: string }
  readonly toolCalls: ReadonlyArray<CallView>
  readonly question: PendingQuestion | undefined
  readonly approvals: ReadonlyArray<PendingApproval>
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
  readonly inbox: ReadonlyArray<InputView>
  readonly usage: Usage
  readonly permissionMode: Mode
  readonly haltedReason: HaltedReason | undefined
  readonly error: ErrorView | undefined
}

/** What turns one view into the next: of messages and text only what was added. */
export interface ChatViewPatch {
  readonly messages?: { readonly kept: number; readonly added: ReadonlyArray<Message> }
  readonly text?: { readonly kept: number; readonly added: string }
  /** The other parts that changed; one that became `undefined` is `null`. */
  readonly rest?: { readonly [Key in Exclude<keyof ChatView, "messages" | "partial">]?: ChatView[Key] | null }
}

/** The view of a snapshot; parts that did not change are those of the view before. */
export declare const of: (id: string, snapshot: ChatSnapshot | undefined, before?: ChatView) => ChatView

/** What turns `before` into `after`; `undefined` when nothing does. Without `before`, all of it. */
export declare const patch: (before: ChatView | undefined, after: ChatView) => ChatViewPatch | undefined

/** The view a patch leads to. */
export declare const apply: (before: ChatView | undefined, change: ChatViewPatch) => ChatView
