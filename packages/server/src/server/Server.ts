/**
 * Chats over HTTP: one handler, `Request → Response`, that mounts in anything.
 *
 * Owns: what each owner has in use, and the streams that are open. Does not own the Troupe, which its program starts and stops,
 * nor sockets.
 *
 * SERVE1. A conversation is reachable by its owner alone: the Troupe's id of it is made of the owner's name and the id.
 * SERVE2. Nobody is let in whom `authorize` does not name, and no page of another place that is not listed.
 * MAY1. A client does nothing that its owner may not.
 * SERVE3. Every refusal is a typed error in JSON; of an error that nobody expects only an id is told, and `onError` the rest.
 * SERVE4. Closed, it refuses what comes, and ends each stream with its last frame; runs that are nobody's conversation are over.
 *
 * @module
 */
import type { Permissions, RunningTroupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { HttpError } from "../errors/HttpError.ts"
import { accepts } from "../http/acceptHeader.ts"
import { checkedOwner, ownedId } from "../access/chatId.ts"
import { makeCall } from "../http/routeCall.ts"
import { refusalOf, responseOfRefusal } from "../errors/failure.ts"
import { OpenStreams } from "../http/openStreams.ts"
import { checkOrigin, open, preflight } from "../access/origins.ts"
import { Owners } from "../access/ownerLimits.ts"
import { permittedOf } from "../access/authorization.ts"
import type { Route } from "../http/route.ts"
import { makeRouter } from "../http/router.ts"
import { checkServerOptions, limitsOf } from "./serverOptions.ts"
import { everyRoute } from "../routes/allRoutes.ts"
import { allShown, withoutToolErrors } from "../errors/toolErrors.ts"

/**
 * What an owner may do beside chatting and answering questions.
 *
 * **Details**: a client may always be stricter than the host: it refuses calls and sets stricter modes without any of these.
 *
 * **Units and defaults**
 *
 * 1. `mode`: the loosest permission mode that the owner may set, in the order `plan`, `default`, `acceptEdits`, `trusted`,
 *    `bypass`. Default: the mode that the host set, by the Troupe's permissions or by `chat.setPermissionMode`.
 * 2. `approve`: whether the owner may allow calls that wait for a decision, give their results, or run a call again that runs.
 *    Default: `false`.
 * 3. `observe`: whether the owner may see and kill the processes of all owners. Default: `false`.
 * 4. `rewind`: whether the owner may rewind and fork conversations, edit what was said, and have an earlier answer given again;
 *    the log keeps what was. Default: `true`.
 * 5. `delete`: whether the owner may delete conversations, with all of their log. Default: `true`.
 */
export interface May {
  readonly mode?: Permissions.Mode | undefined
  readonly approve?: boolean | undefined
  readonly observe?: boolean | undefined
  readonly rewind?: boolean | undefined
  readonly delete?: boolean | undefined
}

/**
 * Who asks: the owner of the conversations that are reachable, and what the owner may do with them.
 *
 * **Units and defaults**: `owner` is text of 1 to 256 characters without control characters; any other is refused with
 * `invalid_owner`. For `may` see {@link May}.
 */
export interface Authorized {
  readonly owner: string
  readonly may?: May | undefined
}

/** Nobody: `401`, or `403` for somebody who may not. */
export interface Denied {
  readonly deny: 401 | 403
}

/** What bounds clients. */
export interface Limits {
  /** Bytes of a request's body. Default: 1,048,576. */
  readonly bodyBytes?: number | undefined
  /** Characters of one message. Default: 100,000. */
  readonly messageCharacters?: number | undefined
  /** Living conversations of one owner. Default: 1,000. */
  readonly conversations?: number | undefined
  /** Requests of one owner in a minute. Default: 600. */
  readonly requestsPerMinute?: number | undefined
  /** Open streams of one owner. Default: 100. */
  readonly streams?: number | undefined
  /**
   * Bytes of answers of one owner whose clients have not taken them yet; of a frame of a stream, its characters. Answers and
   * frames up to 16,384 are not counted, and an answer that is alone is never refused. Default: 67,108,864.
   */
  readonly answerBytes?: number | undefined
}

/** An error that nobody expected: the id its client was told, and which request it was. */
export interface Unexpected {
  readonly id: string
  readonly method: string
  readonly path: string
}

/** What a server is made with. */
export interface ServerOptions {
  readonly troupe: RunningTroupe
  /** Says who asks. Nobody is let in without it. */
  readonly authorize: (request: Request) => Authorized | Denied | Promise<Authorized | Denied>
  readonly limits?: Limits | undefined
  /** The origins of other places whose pages may ask, as `https://app.example.com`. Default: none. */
  readonly origins?: ReadonlyArray<string> | undefined
  /** The names this server is reached by, without port. Default: any, but see `Node.listen`. */
  readonly hosts?: ReadonlyArray<string> | undefined
  /**
   * Whether the header `x-forwarded-host` names the host that the client asked for, in place of `host`. Default: `false`. Set
   * it only behind a proxy that sets or removes this header in every request: a client can send it too.
   */
  readonly trustForwardedHost?: boolean | undefined
  /** What stands before all paths. Default: nothing. */
  readonly basePath?: string | undefined
  /**
   * Makes the Troupe's id of an owner's conversation. **Contract**: `chatId(owner, "")` is what all ids of an owner begin with,
   * and those of no other. Default: the owner's name, escaped, then a slash and the id.
   */
  readonly chatId?: ((owner: string, id: string) => string) | undefined
  /**
   * Whether clients see the text of a tool's error, as the model does. Default: `false`; they see the call's outcome and its id,
   * under which the program's own events, hooks and traces have the error. A handler that means a text for clients returns it
   * as a value.
   */
  readonly exposeToolErrors?: boolean | undefined
  /** Told of errors that nobody expected. Default: nobody. */
  readonly onError?: ((error: unknown, about: Unexpected) => void | Promise<void>) | undefined
}

/** A handler of requests; `close` ends what it has open. */
export interface Server {
  readonly fetch: (request: Request) => Promise<Response>
  readonly close: () => Promise<void>
  /** As the options say. */
  readonly hosts: ReadonlyArray<string> | undefined
}

/**
 * Makes a server of a Troupe.
 *
 * **Details**: what it answers to are the routes of docs/serving.md, and the protocols of existing clients. It holds nothing of a
 * conversation but its name: closed, another can be made of the same Troupe.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for options that cannot be meant.
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
    chatId: options.chatId ?? ownedId
  }

  const unexpected = (error: unknown, request: Request, url: URL): HttpError => {
    const id = System.uuid(troupe.system, "server")
    void tell(onError, error, { id, method: request.method, path: url.pathname })
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

const tell = async (onError: ServerOptions["onError"], error: unknown, about: Unexpected): Promise<void> => {
  try {
    await onError?.(error, about)
  } catch {
    // Whoever is told of errors has none of its own to tell.
  }
}

const denied = ({ deny }: Denied): HttpError =>
  deny === 403
    ? new HttpError("forbidden", "You may not ask this")
    : new HttpError("unauthorized", "Send the credentials that `authorize` of this server expects", {
        headers: { "www-authenticate": "Bearer" }
      })
