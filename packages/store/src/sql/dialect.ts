/** The differences between the databases. */
import type { Message } from "@troupe/chat/messages"
import type { Asking, Query } from "./query.ts"

/** The lists of a record that are stored item by item. */
export const lists = { messages: 0, known: 1 } as const

/** The items that an entry adds to a list: their first place, and their messages if they are messages. */
export interface AddedItems {
  readonly chat: number
  readonly seq: number
  readonly list: number
  readonly from: number
  readonly bodies: ReadonlyArray<string>
  readonly messages: ReadonlyArray<Message.Message>
}

/** An encoded wait. */
export interface WrittenWait {
  readonly call: string
  readonly kind: string
  readonly agent: string | null
  readonly askedAt: number
  readonly expiresAt: number | null
  readonly body: string
}

/** An encoded entry of a save, and the columns of its conversation. */
export interface EntrySave {
  readonly body: string
  readonly messages: ReadonlyArray<string>
  readonly known: ReadonlyArray<string>
  readonly id: string
  /** The bucket of a new conversation. */
  readonly bucket: number | null
  readonly after: number
  /** The conversation that the messages belong to, as far as this program has read. */
  readonly knownKey: number | undefined
  readonly fence: { readonly key: string; readonly epoch: number } | undefined
  readonly title: string
  readonly count: number
  readonly running: number
  readonly now: number
  readonly isStep: number
  readonly kept: number
  readonly knownKept: number
  readonly said: ReadonlyArray<Message.Message>
  /** The keys of the inputs that the entry takes. */
  readonly takes: ReadonlyArray<string>
  readonly waits: ReadonlyArray<WrittenWait>
}

/** The SQL of one database where the databases differ. */
export interface Dialect {
  /** The prefix of a table's name. */
  readonly prefix: string
  /** The end of a query that locks its row until the end of the transaction. */
  readonly hold: string
  /** The end of a query that keeps its row from changes until the end of the transaction. */
  readonly share: string
  /** The end of a query that locks its rows until the end of the transaction, and skips those that are locked. */
  readonly claim: string
  /** A query with which transactions of one text wait for each other, if the database runs some side by side. */
  readonly alone?: string
  /** The number of the store's next write. */
  readonly nextWrite: string
  /** A table with a row for each pair: a text `name`, and a whole `number`. */
  readonly pairs: (pairs: ReadonlyArray<readonly [name: string, number: number]>) => Query
  /** A condition: the number in the column is one of these. */
  readonly among: (column: string, numbers: ReadonlyArray<number>) => Query
  readonly addItems: (added: AddedItems) => Asking<void>
  /**
   * Saves an entry with one statement, and returns the key of its conversation, or `undefined` if nothing was written.
   * Without it, each save is a transaction.
   */
  readonly saveAtOnce?: (save: EntrySave) => Asking<number | undefined>
  /** A condition on `key`: the indexed conversations that have a message with this text. */
  readonly having: (search: string) => Query
  /** The conversations of these keys that have a message with this text. The cost is proportional to their messages. */
  readonly havingOf: (keys: ReadonlyArray<number>, search: string) => Asking<ReadonlySet<number>>
  /** The rows of messages with one of these beginnings of words, the best first: `id`, `position` and `body`. */
  readonly search: (search: MessageSearch) => Query
  /** The memories of a scope with one of these beginnings of words, the best first: `id`, `text` and `at`. */
  readonly recall: (recall: { readonly scope: string } & Pick<MessageSearch, "stems" | "limit">) => Query
  /**
   * Indexes some of the messages that are not indexed, for a search in lists or in messages, and returns whether there may be more.
   */
  readonly index: (use: "list" | "search") => Asking<boolean>
}

/** A search in messages: `where` is a condition on `id`. */
interface MessageSearch {
  readonly stems: ReadonlyArray<string>
  readonly where: Query
  readonly limit: number
}
