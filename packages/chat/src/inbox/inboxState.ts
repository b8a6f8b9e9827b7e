/** The part of a chat's state that its inbox reads and changes. */
import type { Thread, ToolCall } from "../model/index.ts"
import type { OpenStep } from "../record/index.ts"
import type { SaveRecord } from "../store/index.ts"
import type { Mailbox } from "./inboxQueue.ts"
import type { InboxWriter } from "./inboxWriter.ts"
import type { Turn } from "./delivery.ts"

/** The state before the chat took the inputs of the running commit (ARR1). */
export interface Before {
  readonly thread: Thread
  readonly interrupted: { readonly text: string } | undefined
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
  readonly open: OpenStep | undefined
  readonly expiresAt: number | undefined
  readonly inputs: ReadonlyArray<string>
  readonly known: ReadonlyArray<string>
}

/** The state of the inbox, beside the state that `Before` restores. */
export interface InboxState extends Before {
  readonly turn: Turn | undefined
  readonly mailbox: Mailbox
  /** Stores inputs that wait; `undefined` until the first input has to wait. */
  readonly keeper: InboxWriter | undefined
  /** The turns whose inputs are in the thread and not yet stored there. */
  readonly arriving: ReadonlyArray<Turn>
  readonly before: Before | undefined
  /** The turn whose start could not be stored; a retry takes it. */
  readonly unstored: Turn | undefined
  readonly commit: SaveRecord | undefined
}
