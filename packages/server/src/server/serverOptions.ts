/** Checks what a server is made with: what would refuse everybody, or nobody, says so at once. */
import { ValidationError, type RunningTroupe } from "@troupe/chat"
import type { Finding } from "@troupe/chat/errors"
import type { May } from "../access/index.ts"

/** The limits that count. */
export type AllLimits = { readonly [Name in keyof Limits]-?: number }

const defaults: AllLimits = {
  bodyBytes: 1_048_576,
  messageCharacters: 100_000,
  conversations: 1_000,
  requestsPerMinute: 600,
  streams: 100,
  answerBytes: 67_108_864
}

const names = Object.keys(defaults) as ReadonlyArray<keyof Limits>

export const limitsOf = (given: Limits = {}): AllLimits => ({
  ...defaults,
  ...Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])))
})

/** Throws a `ValidationError` (`invalid_options`) that names each option of the wrong kind. */
export const checkServerOptions = ({
  authorize,
  limits = {},
  origins = [],
  hosts = [],
  trustForwardedHost,
  basePath,
  exposeToolErrors
}: ServerOptions): void => {
  const found: Array<Finding> = []
  if (typeof authorize !== "function") {
    found.push({ field: ["authorize"], reason: "must be a function: without one anybody could ask for anything" })
  }
  if (typeof limits !== "object" || limits === null || Array.isArray(limits)) {
    found.push({ field: ["limits"], reason: "must be an object" })
  } else
    for (const [name, limit] of Object.entries(limits)) {
      if (!names.some((known) => known === name)) found.push({ field: ["limits", name], reason: "unknown_option" })
      else if (limit !== undefined && !(typeof limit === "number" && limit >= 1)) {
        found.push({ field: ["limits", name], reason: "must be a number, 1 or more" })
      }
    }
  for (const [index, origin] of listed("origins", origins, found)) {
    if (!(typeof origin === "string" && URL.canParse(origin) && new URL(origin).origin === origin)) {
      found.push({ field: ["origins", index], reason: "must be an origin, as https://app.example.com" })
    }
  }
  for (const [index, host] of listed("hosts", hosts, found)) {
    if (!(typeof host === "string" && URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === host)) {
      found.push({ field: ["hosts", index], reason: "must be the name of a host, without port" })
    }
  }
  if (trustForwardedHost !== undefined && typeof trustForwardedHost !== "boolean") {
    found.push({ field: ["trustForwardedHost"], reason: "must be true or false" })
  }
  if (basePath !== undefined && basePath !== "" && !/^(?:\/[\w.-]+)+$/u.test(basePath)) {
    found.push({ field: ["basePath"], reason: "must be a path, as /api" })
  }
  if (exposeToolErrors !== undefined && typeof exposeToolErrors !== "boolean") {
    found.push({ field: ["exposeToolErrors"], reason: "must be true or false" })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

/** The entries of a list; of what is none there are none, and it is found. */
const listed = (name: string, value: unknown, found: Array<Finding>): Iterable<[number, unknown]> => {
  if (Array.isArray(value)) return value.entries()
  found.push({ field: [name], reason: "must be a list" })
  return []
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
