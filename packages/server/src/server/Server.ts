/**
 * Chats over HTTP: one handler, `Request → Response`, that mounts in any server.
 *
 * Owns: the usage counts of each owner, and the open streams. Does not own the Troupe, which its program starts and stops,
 * nor sockets.
 *
 * SERVE1. Only its owner can reach a conversation: the Troupe's id is made of the owner's name and the id.
 * SERVE2. A caller that `authorize` does not name is refused, and so is a page of another origin that is not listed. A
 *         client does nothing that its owner may not (MAY1).
 * SERVE3. Every refusal is a typed error in JSON. Of an unexpected error the client gets only an id, and `onError` gets the
 *         rest.
 * SERVE4. After `close` it refuses requests, ends each stream with its last frame, and ends runs without a conversation.
 *
 * @module
 */
import { System } from "@troupe/otp"
import { HttpError } from "../errors/index.ts"
import {
  accepts,
  makeCall,
  makeRouter,
  OpenStreams,
  refusalOf,
  responseOfRefusal,
  type Route,
  TurnReaders
} from "../http/index.ts"
import { checkedOwner, ownedId } from "../link/index.ts"
import { allShown, checkOrigin, open, Owners, permittedOf, preflight, withoutToolErrors } from "../access/index.ts"
import { checkServerOptions, limitsOf, type Denied, type Unexpected, type ServerOptions } from "./serverOptions.ts"
import { everyRoute } from "../routes/index.ts"

export type { Authorized, Denied, Limits, ServerOptions, Unexpected } from "./serverOptions.ts"

export type { May } from "../access/index.ts"

/** A request handler. `close` ends its open streams and runs. */
export interface Server {
  readonly fetch: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
  /** The `hosts` of the options. */
  readonly hosts: ReadonlyArray<string> | undefined
}

/**
 * Makes a server of a Troupe.
 *
 * **Details**: it serves the routes of docs/serving.md, and the protocols of existing clients. It holds only the names of
 * conversations: after `close`, another server can be made of the same Troupe.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for invalid options.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { Server } from "@troupe/server"
 *
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
 * const server = Server.make({ troupe, authorize: () => ({ owner: "anna" }) })
 * const request = new Request("http://localhost/chats/c1/messages", {
 *   method: "POST",
 *   headers: { "content-type": "application/json" },
 *   body: JSON.stringify({ input: "Hello", id: "m1" })
 * })
 * const response = await server.fetch(request)
 * await response.json() // => { id: "m1", status: "delivered" }
 * await server.close()
 * await troupe.stop()
 * ```
 */
export const make = (options: ServerOptions): Server => {
  checkServerOptions(options)
  const { troupe, authorize, basePath = "", hosts, onError } = options
  const { clock } = troupe.system
  const limits = limitsOf(options.limits)
  const find = makeRouter(everyRoute, basePath)
  const owners = new Owners(
    limits,
    () => clock.now(),
    (id) => troupe.isAlive(id)
  )
  const streams = new OpenStreams(clock)
  const places = {
    origins: new Set(options.origins),
    hosts: hosts === undefined ? undefined : new Set(hosts),
    trustForwardedHost: options.trustForwardedHost === true
  }
  const closing = new AbortController()
  const ends = new Set<() => Promise<unknown>>()
  const shown = options.exposeToolErrors === true ? allShown : withoutToolErrors
  const home = {
    troupe,
    owners,
    streams,
    limits,
    shown,
    closing: closing.signal,
    ends,
    chatId: options.chatId ?? ownedId,
    clientTools: options.clientTools === true,
    models: options.models ?? {},
    readers: new TurnReaders(options.onDisconnect ?? "continue")
  }

  const unexpected = (error: unknown, request: Request, url: URL): HttpError => {
    const id = System.uuid(troupe.system, "server")
    void notify(onError, error, { id, method: request.method, path: url.pathname })
    return new HttpError("internal", "Something went wrong; the server's operator knows more under this id", { id })
  }

  const answered = async (request: Request, url: URL, route: Route, params: Readonly<Record<string, string>>) => {
    if (route.produces !== undefined && !accepts(request.headers.get("accept"), route.produces)) {
      throw new HttpError("not_acceptable", `This path answers with ${route.produces.join(" or ")}`)
    }
    if (closing.signal.aborted) throw new HttpError("closing", "The server is closing", { retryAfterMs: 1_000 })
    const who = await authorize(request)
    if ("deny" in who) throw denied(who)
    const asking = { owner: checkedOwner(who.owner), may: permittedOf(who.may) }
    const { call, counted, settle } = makeCall(
      home,
      request,
      url,
      params,
      asking,
      (error) => void unexpected(error, request, url)
    )
    try {
      return await counted(await route.handle(call))
    } finally {
      settle()
    }
  }

  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    let opened: string | undefined
    let route: Route | undefined
    let response: Response
    try {
      opened = checkOrigin(request, url, places)
      const preflighted = preflight(request, opened)
      if (preflighted === undefined) {
        const found = find(request.method, url.pathname)
        route = found.route
        response = await answered(request, url, route, found.params)
      } else response = preflighted
    } catch (error) {
      const refusal = refusalOf(error) ?? unexpected(error, request, url)
      response = (route?.refused ?? responseOfRefusal)(refusal)
    }
    if (opened !== undefined) open(response, opened)
    response.headers.set("x-content-type-options", "nosniff")
    if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store")
    return response
  }

  return {
    fetch,
    hosts,
    close: async () => {
      closing.abort()
      const ending = Array.from(ends, (end) => end())
      streams.close()
      await Promise.allSettled(ending)
    }
  }
}

const notify = async (onError: ServerOptions["onError"], error: unknown, about: Unexpected): Promise<void> => {
  try {
    await onError?.(error, about)
  } catch {
    // Exceptions thrown by `onError` are swallowed.
  }
}

const denied = ({ deny }: Denied): HttpError =>
  deny === 403
    ? new HttpError("forbidden", "You may not ask this")
    : new HttpError("unauthorized", "Send the credentials that `authorize` of this server expects", {
        headers: { "www-authenticate": "Bearer" }
      })
