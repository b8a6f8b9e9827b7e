/**
 * A user interface's link to chats behind a server: in browsers and in Node, by `fetch` alone.
 *
 * Owns: nothing; each watched chat has a stream of its own. Calls the routes of `Server`.
 *
 * CLIENT1. Of the packages of this workspace a page loads the code that shows a chat, not the code that runs one.
 *
 * @module
 */
import type { Store } from "@troupe/chat/store"
import type * as Clock from "@troupe/otp/clock"
import { type ChatLink, checkedId, pathPart, WeakCache, type TroupeLink } from "../link/index.ts"
import { hostClock } from "./hostClock.ts"
import { makeRemote } from "./remote.ts"
import { query, remoteChat } from "./remoteChat.ts"
import { remoteObserver } from "./remoteObserver.ts"

export { ConnectionError, HttpError } from "../errors/index.ts"

/** How a server is reached. */
export interface ConnectOptions {
  /** The base URL of the server's paths, with its `basePath`; for the page's own server the path is enough. */
  readonly url: string
  /** Sends the requests. Default: the host's `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** Sent with each request; a function is called for each. Default: none. */
  readonly headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>) | undefined
  /** The clock of timeouts and of the waits between two tries. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
  /** Spreads the times between two tries; returns a number from 0 to below 1. Default: a random number of the host. */
  readonly random?: (() => number) | undefined
}

/**
 * The link to a server.
 *
 * **Details**: nothing is requested until a chat is watched or a verb is called. A cut stream is opened again, after a
 * quarter of a second at first and ten seconds at most. The next frame brings the missed changes. A link that is not
 * referenced is garbage-collected.
 *
 * **Errors**: the verbs reject with the server's `HttpError`, or with a `ConnectionError` when it is unknown whether the
 * server was reached. Sending a message again under the same `id` is safe then. Throws a `TypeError` without a `url`, and for
 * unknown options.
 */
export const connect = (options: ConnectOptions): TroupeLink => {
  check(options)
  const { url, headers, clock = hostClock, random = chance } = options
  const remote = makeRemote({
    url,
    clock,
    random,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    headers: typeof headers === "function" ? headers : () => headers ?? {}
  })
  const chats = new WeakCache<ChatLink>()
  return {
    chat: (id) => chats.get(id, () => remoteChat(remote, id)),
    list: async ({ prefix, search, limit, after } = {}) =>
      (await remote.ask("GET", `/chats${query({ prefix, search, limit, after })}`)) as Store.ChatList,
    waiting: async ({ owner, kind, agent, limit, after } = {}) =>
      (await remote.ask(
        "GET",
        `/waiting${query({ prefix: owner, kind, agent, limit, after })}`
      )) as Store.Lists.WaitList,
    memories: async ({ query: words, limit, after } = {}) =>
      (await remote.ask("GET", `/memories${query({ query: words, limit, after })}`)) as Store.Lists.MemoryList,
    forget: async (id) => void (await remote.ask("DELETE", `/memories/${pathPart("memory", id)}`)),
    remove: async (id) => void (await remote.ask("DELETE", `/chats/${pathPart("id", checkedId(id))}`)),
    observer: remoteObserver(remote)
  }
}

const names: ReadonlyArray<string> = ["url", "fetch", "headers", "clock", "random"] satisfies Array<
  keyof ConnectOptions
>

/** Throws a `TypeError` for an unknown option, and without a URL. A `ValidationError` would load zod (CLIENT1). */
const check = (options: unknown): void => {
  const given = typeof options === "object" && options !== null ? options : {}
  const unknown = Object.keys(given).find((name) => !names.includes(name))
  if (unknown !== undefined) throw new TypeError(`connect has no option ${unknown}; use ${names.join(", ")}`)
  if ("url" in given && typeof given.url === "string") return
  throw new TypeError(
    "connect needs the URL of the server, or a path of the server of the page: write connect({ url })"
  )
}

/** A random number from 0 to 1. */
const chance = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32
