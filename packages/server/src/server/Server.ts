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
 *         rest, or without it the log of the Troupe's system.
 * SERVE4. After `close` it refuses requests, ends each stream with its last frame, and ends runs without a conversation. On a node
 *         of a cluster, answers of turns may end before (FORWARD7).
 * UIWRITE7. While a server of `make` is open, a turn that begins without options of its own has a writer of data parts, for example one
 *           that goes on by itself after a restart.
 *
 * @module
 */
import type { RunningTroupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { bodyOf, HttpError } from "../errors/index.ts"
import {
  accepts,
  AtNode,
  type CallHome,
  Elsewhere,
  isMoved,
  makeCall,
  makeRouter,
  nodeBeatMs,
  nodeBodyOf,
  OpenStreams,
  refusalOf,
  responseOfRefusal,
  type Route,
  TurnReaders
} from "../http/index.ts"
import { checkedOwner, ownedId } from "../link/index.ts"
import {
  allShown,
  checkOrigin,
  open,
  Owners,
  permittedOf,
  preflight,
  usageElsewhere,
  usageHere,
  withoutToolErrors
} from "../access/index.ts"
import type { Asked, Clustered } from "./Clustered.ts"
import {
  checkServerOptions,
  limitsOf,
  noLimits,
  type Denied,
  type Unexpected,
  type ServerOptions
} from "./serverOptions.ts"
import { everyRoute, hostRoutes, mcpRoutes, nodeRoutes } from "../routes/index.ts"
import { withWriter } from "../wire/index.ts"

export { pathPart, placeOfTurn, requestOf, resultOfTurn } from "../link/index.ts"
export type { Authorized, Denied, Limits, ServerOptions, Unexpected } from "./serverOptions.ts"

export type { May } from "../access/index.ts"
export type {
  AdmittedHere,
  Asked,
  Caller,
  Clustered,
  HomeCall,
  HomeCaller,
  NodeServer,
  ServedHome,
  SharedLimits
} from "./Clustered.ts"

/** A request handler. */
export interface Server {
  /** Answers a request. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Ends its open streams and runs, and resolves when they have ended. */
  readonly close: () => Promise<void>
  /** The `hosts` of the options. */
  readonly hosts: ReadonlyArray<string> | undefined
}

/**
 * Makes a server of a Troupe.
 *
 * **Details**: it serves [the routes](https://troupe.example/serving#the-routes), and the protocols of existing clients. It holds only the names of
 * conversations: after `close`, another server can be made of the same Troupe.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for invalid options, and on a node of a cluster for the `basePath` of
 * another open server.
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
  const { mcp } = options
  const routes = mcp === undefined ? everyRoute : [...everyRoute, ...mcpRoutes(mcp)]
  const server = build(options, routes, options.basePath ?? "")
  const troupe = troupeOf(options)
  const limits = limitsOf(options.limits)
  // UIWRITE7
  const forget = troupe.turnOptions((chat) => withWriter({ troupe, limits }, chat))
  const close = async (): Promise<void> => {
    forget()
    await Promise.all([mcp?.close(), server.close()])
  }
  return { ...server, close }
}

/** The Troupe of this program. */
const troupeOf = ({ troupe }: Pick<ServerOptions, "troupe">): RunningTroupe =>
  "local" in troupe ? troupe.local : troupe

/**
 * Makes the server by which the nodes of a cluster use each other's chats, for `@troupe/cluster`.
 *
 * **Details**: ids are those of the Troupe, nothing is limited, and it has routes for the program itself. `fetch` is for the
 * program only: it authenticates no caller. `onError` is that of {@link make}.
 */
export const forNodes = (troupe: Clustered, onError?: ServerOptions["onError"]): Server => {
  const may = { mode: "bypass", approve: true, observe: true, agents: true, models: true } as const
  const chatId = (_owner: string, id: string): string => id
  const options = {
    troupe,
    chatId,
    authorize: () => ({ owner: "node", may }),
    limits: noLimits,
    exposeToolErrors: true,
    onError
  }
  return build(options, [...everyRoute, ...hostRoutes], "nodes", { checkId: (id) => id, bodyOf: nodeBodyOf })
}

/** `name` is the name under which the server of a cluster is mounted. */
const build = (
  options: ServerOptions,
  routes: ReadonlyArray<Route>,
  name: string,
  { checkId, bodyOf: json = bodyOf }: Partial<Pick<CallHome, "checkId" | "bodyOf">> = {}
): Server => {
  const { authorize, basePath = "", hosts, onError } = options
  const clustered = "local" in options.troupe ? options.troupe : undefined
  const troupe = troupeOf(options)
  const { clock } = troupe.system
  const limits = limitsOf(options.limits)
  const router = makeRouter(clustered === undefined ? routes : [...routes, ...nodeRoutes], basePath)
  const owners = new Owners(
    limits,
    () => clock.now(),
    (id) => troupe.isAlive(id),
    clustered?.nodes
  )
  const streams = new OpenStreams(clock)
  const places = {
    origins: new Set(options.origins),
    hosts: hosts === undefined ? undefined : new Set(hosts),
    trustForwardedHost: options.trustForwardedHost === true
  }
  const closing = new AbortController()
  let isClosed = false
  const ends = new Set<() => Promise<unknown>>()
  const shown = options.exposeToolErrors === true ? allShown : withoutToolErrors
  const home = {
    troupe,
    cluster: clustered,
    streams,
    limits,
    shown,
    basePath,
    bodyOf: json,
    closing: closing.signal,
    ends,
    chatId: options.chatId ?? ownedId,
    clientTools: options.clientTools === true,
    posts: options.posts ?? {},
    checkId,
    models: options.models ?? {},
    readers: new TurnReaders(options.onDisconnect ?? "continue")
  }

  const forwardedClosing = new AbortController()
  /** The streams and runs that other nodes have asked for, which go on until the node has left its cluster (FORWARD4). */
  const forwarded = {
    ...home,
    streams: new OpenStreams(clock, nodeBeatMs),
    closing: forwardedClosing.signal,
    ends: new Set<() => Promise<unknown>>()
  }

  const unexpected = (error: unknown, request: Request, url: URL): HttpError => {
    const id = System.uuid(troupe.system, "server")
    void notify(troupe.system, onError, error, { id, method: request.method, path: url.pathname })
    return new HttpError("internal", "The server failed; its operator has the error under this id", { id })
  }

  const failed = (error: unknown, request: Request, url: URL): void => void unexpected(error, request, url)

  const many =
    clustered === undefined
      ? undefined
      : clustered.serve({
          name,
          limits,
          closing: closing.signal,
          isClosed: () => isClosed,
          find: (request) => asking(request),
          begin: ({ request, url, route, params }, caller, admitted) => {
            const { owner, isForwarded } = caller
            const usage = admitted === undefined ? usageHere(owners, owner) : usageElsewhere(owners, owner, admitted)
            const own = isForwarded ? forwarded : home
            const place = { ...own, isHome: clustered.isHome, isEndless: route.isEndless }
            const call = makeCall(place, request, url, params, caller, usage, (error) => failed(error, request, url))
            return { ...call, usage }
          },
          refuse: (error, request, route) => refusing(error, request, new URL(request.url), route),
          elsewhere,
          isMoved,
          endEndless: () => streams.close("endless"),
          endForwarded: async () => {
            forwardedClosing.abort()
            await endAll(forwarded)
          }
        })

  const answered = async (asked: Asked): Promise<Response> => {
    const { request, url, route, params } = asked
    if (route.produces !== undefined && !accepts(request.headers.get("accept"), route.produces)) {
      throw new HttpError("not_acceptable", `This path answers with ${route.produces.join(" or ")}`)
    }
    if (isClosed) throw new HttpError("closing", "The server is closing", { retryAfterMs: 1_000 })
    const who = await authorize(request)
    if (Object(who) !== who) throw new TypeError('authorize returns { owner: "anna" }, or { deny: 401 }')
    if ("deny" in who) throw denied(who)
    const caller = { owner: checkedOwner(who.owner), may: permittedOf(who.may) }
    if (many !== undefined) return many.answer(asked, caller)
    const usage = usageHere(owners, caller.owner)
    const { handled, settle } = makeCall(home, request, url, params, caller, usage, (error) =>
      failed(error, request, url)
    )
    try {
      return await handled(route)
    } finally {
      settle()
    }
  }

  const refusing = (error: unknown, request: Request, url: URL, route: Route | undefined): Response =>
    (route?.refused ?? router.refusedBelow(url.pathname) ?? ((refusal) => responseOfRefusal(refusal, json)))(
      refusalOf(error) ?? unexpected(error, request, url)
    )

  const asking = (request: Request, url = new URL(request.url)): Asked => ({
    request,
    url,
    ...router.find(request.method, url.pathname)
  })

  const fetch = async (request: Request): Promise<Response> => {
    const url = new URL(request.url)
    let opened: string | undefined
    let route: Route | undefined
    let response: Response
    try {
      opened = checkOrigin(request, url, places)
      const preflighted = preflight(request, opened)
      if (preflighted === undefined) {
        const asked = asking(request, url)
        route = asked.route
        response = await answered(asked)
      } else response = preflighted
    } catch (error) {
      response = refusing(error, request, url, route)
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
      isClosed = true
      await many?.drain()
      closing.abort()
      await endAll(home)
    }
  }
}

/** Ends the streams and the runs. */
const endAll = async ({ streams, ends }: Pick<CallHome, "streams" | "ends">): Promise<void> => {
  const ending = Array.from(ends, (end) => end())
  streams.close()
  await Promise.allSettled(ending)
}

/** The chat, or the node, whose node is to answer. */
const elsewhere = (error: unknown): { readonly id?: string; readonly node?: string } | undefined => {
  if (error instanceof Elsewhere) return { id: error.id }
  return error instanceof AtNode ? { node: error.address } : undefined
}

/** Passes an unexpected error to `onError`. The log gets it without `onError`, and also when that fails. */
const notify = async (
  system: System.System,
  onError: ServerOptions["onError"],
  error: unknown,
  { id, method, path }: Unexpected
): Promise<void> => {
  const report = (subject: string, fault: unknown): void =>
    System.report(system, { subject, error: fault, attributes: { id, method, path } })
  const subject = `${method} ${path} failed with the id ${id}`
  if (onError === undefined) return report(subject, error)
  try {
    await onError(error, { id, method, path })
  } catch (thrown) {
    report(subject, error)
    report(`onError of the server failed with the id ${id}`, thrown)
  }
}

const denied = ({ deny }: Denied): HttpError =>
  deny === 403
    ? new HttpError("forbidden", "You may not ask this")
    : new HttpError("unauthorized", "Send the credentials that `authorize` of this server expects", {
        headers: { "www-authenticate": "Bearer" }
      })
