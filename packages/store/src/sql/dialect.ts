/** Where the databases differ. */
import type { Message } from "@troupe/chat/messages"
import type { Asking, Query } from "./query.ts"

/** The lists of a record that are kept item by item. */
export const lists = { messages: 0, known: 1 } as const

/** What an entry adds to a list: the items from a place on, and the messages they are, where they are some. */
export interface AddedItems {
  readonly chat: number
  readonly seq: number
  readonly list: number
  readonly from: number
  readonly bodies: ReadonlyArray<string>
  readonly messages: ReadonlyArray<Message.Message>
}

/** How one database says what the other says differently. */
export interface Dialect {
  /** What stands before the name of a table. */
  readonly prefix: string
  /** What a question ends with whose row is to be held until the end of the transaction. */
  readonly hold: string
  /** The number of the next write of the whole store. */
  readonly nextWrite: string
  /** Adds items. */
  readonly addItems: (added: AddedItems) => Asking<void>
  /** Which conversations have a message with this text, of those that are indexed: a condition on `key`. */
  readonly having: (search: string) => Query
  /** Which of the conversations of these keys have a message with this text; costs what was said in them. */
  readonly havingOf: (keys: ReadonlyArray<number>, search: string) => Asking<ReadonlySet<number>>
  /** Indexes some of the messages that are not; whether there may be more. Where it is missing, every message is when it is added. */
  readonly index?: () => Asking<boolean>
}
