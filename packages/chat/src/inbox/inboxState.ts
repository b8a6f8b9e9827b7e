/** The part of a chat's state that its inbox reads and changes, as data. */
import type { Thread, ToolCall } from "../model/index.ts"
import type { OpenStep } from "../record/index.ts"
import type { Mailbox } from "./Mailbox.ts"
import type { TurnData } from "./turnData.ts"

type Ids = ReadonlyArray<string>

/** The state before the chat took the inputs of the running commit (ARR1). */
export interface Before {
  readonly thread: Thread
  readonly interrupted: { readonly text: string } | undefined
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
  readonly open: OpenStep | undefined
  readonly expiresAt: number | undefined
  readonly inputs: Ids
  readonly known: Ids
}

/** The storage of the waiting inputs, by their ids. */
export interface InboxSaves {
  /** Whether an input came that no save contains yet, and the inputs of the running save. */
  readonly unsaved: boolean
  readonly saving: Ids | undefined
  /** The inbox of the running commit, and its inputs whose own save failed (KEEP3). */
  readonly carried: Ids
  readonly doubted: Ids
  /** The inputs that became pending here and are not delivered. */
  readonly pending: Ids
}

/** The state of the inbox, beside the state that `Before` restores. */
export interface InboxState extends Before {
  readonly turn: TurnData | undefined
  readonly mailbox: Mailbox
  readonly saves: InboxSaves
  /** The turns whose inputs are in the thread and not yet stored there. */
  readonly arriving: ReadonlyArray<TurnData>
  readonly before: Before | undefined
  /** The turn whose start could not be stored; a retry takes it. */
  readonly unstored: TurnData | undefined
  /** Whether there is a store. */
  readonly stores: boolean
}
