/**
 * The interface of a user interface to chats and to the observer: the same for local chats and for chats behind a server.
 *
 * @module
 */
import type { ContentPart } from "@troupe/chat/messages"
import type { Observation } from "@troupe/chat/observe"
import type { Store } from "@troupe/chat/store"
import type { ChatView } from "@troupe/chat/view"
import type { Verbs } from "./verbs.ts"

export { verbNames } from "./verbs.ts"
export type { Verb, Verbs } from "./verbs.ts"

/** How a message is sent, as by `chat.send`. */
export interface SayOptions {
  /** What happens when a turn runs, see `SendOptions` of `@troupe/chat`. Default: `"queue"`. */
  readonly whenBusy?: "queue" | "steer" | "interrupt" | "reject" | undefined
  /** The id of the input; the same input under the same id is sent once. Default: a generated one. */
  readonly id?: string | undefined
  /**
   * The name of the model for the turn of this message, which `May.models` must allow. Default: that of the Troupe or of the
   * agent.
   */
  readonly model?: string | undefined
  /**
   * The name of the agent of a chat that begins with the message, which `May.agents` must allow. Default: the agent of the
   * Troupe.
   */
  readonly agent?: string | undefined
}

/** Whether the connection to the chat is open. `closed` is final: the last error has the reason. */
export type LinkStatus = "connecting" | "open" | "reconnecting" | "closed"

/** The state of a chat. The same object until something changes. */
export interface LinkState {
  /** The view of the chat. */
  readonly view: ChatView.ChatView
  /** Whether the connection to the chat is open. */
  readonly status: LinkStatus
  /** Why the connection is not open. */
  readonly error: Error | undefined
}

/**
 * One chat.
 *
 * **Contract**: while there is a subscriber the state follows the chat, at most once a frame for streaming text. Each verb
 * resolves when the chat has accepted it (not when its turn is over), and rejects with a typed error.
 */
export interface ChatLink extends Verbs {
  /** The id of the conversation. */
  readonly id: string
  /** Returns the state of the chat, the same object until something changes. */
  readonly getState: () => LinkState
  /** Calls `changed` after each change of the state; the returned function ends this. */
  readonly subscribe: (changed: () => void) => () => void
  /** Sends a message, a text or a list of parts; it runs a turn, or joins one as `whenBusy` says. */
  readonly send: (input: string | Array<ContentPart>, options?: SayOptions) => Promise<void>
  /** Returns entries of the conversation after the number `after`, the oldest first, at most `limit`, 50 by default. */
  readonly history: (options?: {
    readonly after?: number
    readonly limit?: number
  }) => Promise<ReadonlyArray<Store.Commit>>
  /** Returns the id of the new chat. */
  readonly fork: (options?: { readonly at?: number; readonly id?: string }) => Promise<string>
  /** Sets the conversation back to an earlier entry. */
  readonly rewind: (seq: number) => Promise<void>
}

/** An observed value. */
export type Watched<A> = Observation.Watched<A>

/**
 * A node of a cluster.
 *
 * **Details**: of a `silent` or `gone` node the figures are the last known ones. Without any, the fields are missing.
 */
export interface NodeStatus {
  /** Its address for other nodes. */
  readonly node: string
  /**
   * `draining` while it hands its conversations over; `silent` when it gives no answer; `gone` when it has left the cluster, or
   * its lease has ended.
   */
  readonly state: "alive" | "draining" | "silent" | "gone"
  /** A `gateway` is the home of no conversation. */
  readonly role?: "home" | "gateway" | undefined
  /** How many buckets it holds. */
  readonly buckets?: number | undefined
  /** The highest epoch of its buckets. */
  readonly epoch?: number | undefined
  /** How many chats are live there. */
  readonly chats?: number | undefined
  /** Whether it is the home of the chat of the list. */
  readonly hasChat?: boolean | undefined
}

/**
 * The observer: `Observation.make` locally, and the same interface behind a server.
 *
 * **Details**: behind a server, `nodes` are the nodes of its cluster, by their addresses, and `node` returns the observation
 * of one of them. The observation itself is that of the node that the client has reached; its tree names this node. Without
 * a cluster, `nodes` has no state, and its error is `not_found`.
 */
export interface ObserverLink extends Observation.Observation {
  /** With a chat, the list marks its home. Returns the same object for the same chat while it is observed. */
  readonly nodes?: ((chat?: string) => Watched<ReadonlyArray<NodeStatus>>) | undefined
  /** Returns the same object for the same address while it is observed. */
  readonly node?: ((address: string) => Observation.Observation) | undefined
}

/** Which memories are listed. */
export interface MemoryQuery {
  /** Words that the memories fit. Default: all memories. */
  readonly query?: string | undefined
  /** The most memories. Default: 50, and 5 with a query. */
  readonly limit?: number | undefined
  /** The `next` of the page before. Default: the first page. */
  readonly after?: string | undefined
  /** Whose memories, for a link of the own program, which has no owner. A server decides it, and ignores this. */
  readonly scope?: string | undefined
}

/** A system, local or remote. */
export interface TroupeLink {
  /** Returns the same link for the same id. */
  readonly chat: (id: string) => ChatLink
  /** Returns a page of the stored conversations, last written first. */
  readonly list: (options?: Store.ListOptions) => Promise<Store.ChatList>
  /** What the chats wait for; behind a server `owner` is a prefix among the owner's ids. */
  readonly waiting: (options?: Store.Lists.WaitOptions) => Promise<Store.Lists.WaitList>
  /** What was remembered, the newest first; with a `query` what fits it. Behind a server it is that of the owner. */
  readonly memories: (options?: MemoryQuery) => Promise<Store.Lists.MemoryList>
  /** Deletes a memory. */
  readonly forget: (id: string, options?: Pick<MemoryQuery, "scope">) => Promise<void>
  /** Deletes a conversation. */
  readonly remove: (id: string) => Promise<void>
  /** The process tree, the processes and the timelines. */
  readonly observer: ObserverLink
}
