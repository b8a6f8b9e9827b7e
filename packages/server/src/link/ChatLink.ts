/**
 * What a user interface needs of chats and of the observer: the same for those in its own program and those behind a server.
 *
 * @module
 */
import type { Observation } from "@troupe/chat/observe"
import type { Store } from "@troupe/chat/store"
import type { Approval, Permissions } from "@troupe/chat/tools"
import type { ChatView } from "@troupe/chat/view"

/** How something is said: as `chat.send`. */
export interface SayOptions {
  readonly whenBusy?: "queue" | "steer" | "interrupt" | "reject" | undefined
  readonly id?: string | undefined
}

/** Whether the way to the chat is open. `closed` for good: its last error says why. */
export type LinkStatus = "connecting" | "open" | "reconnecting" | "closed"

/** What is known of a chat at a time. The same object until something changed. */
export interface LinkState {
  readonly view: ChatView.ChatView
  readonly status: LinkStatus
  readonly error: Error | undefined
}

/**
 * One chat.
 *
 * **Contract**: while somebody is subscribed the state follows the chat, at most once in a frame's time for text that
 * streams. Each verb resolves when the chat has taken it (not when its turn is over), and rejects with a typed error.
 */
export interface ChatLink {
  readonly id: string
  readonly getState: () => LinkState
  readonly subscribe: (changed: () => void) => () => void
  readonly send: (input: string, options?: SayOptions) => Promise<void>
  readonly cancel: () => Promise<void>
  readonly retry: () => Promise<void>
  readonly resume: () => Promise<void>
  readonly approve: (toolCallId: string, decision: Approval.Decision) => Promise<void>
  readonly submitToolResults: (results: Readonly<Record<string, unknown>>) => Promise<void>
  readonly cancelToolCall: (toolCallId: string) => Promise<void>
  readonly restartToolCall: (toolCallId: string) => Promise<void>
  readonly setPermissionMode: (mode: Permissions.Mode) => Promise<void>
  readonly history: (options?: {
    readonly after?: number
    readonly limit?: number
  }) => Promise<ReadonlyArray<Store.Commit>>
  /** Gives the id of the new chat. */
  readonly fork: (options?: { readonly at?: number; readonly id?: string }) => Promise<string>
  readonly rewind: (seq: number) => Promise<void>
}

/** Something that is watched. */
export type Watched<A> = Observation.Watched<A>

/** The observer: `Observation.make` near, and the same behind a server. */
export type ObserverLink = Observation.Observation

/** A system, near or far. */
export interface TroupeLink {
  /** The same link for the same id. */
  readonly chat: (id: string) => ChatLink
  readonly list: (options?: Store.ListOptions) => Promise<Store.ChatList>
  readonly remove: (id: string) => Promise<void>
  readonly observer: ObserverLink
}
