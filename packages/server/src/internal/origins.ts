/**
 * Who may ask from where: pages of other places are refused, unless they are listed.
 *
 * ORIGIN1. A request that a browser made for a page of another place is refused, but for the origins that are listed: by its
 *          `origin`, and where there is none by its `sec-fetch-site`.
 * ORIGIN2. A host that is not listed is refused, where some are: a name that was made to lead here by its own DNS has none.
 */
import { HttpError } from "../HttpError.ts"

/** What may be asked from where. */
export interface Origins {
  readonly origins: ReadonlySet<string>
  readonly hosts: ReadonlySet<string> | undefined
}

/** Gives the origin that the response is to be opened to, if there is one. Throws an `HttpError` (403). */
export const checkOrigin = (request: Request, url: URL, { origins, hosts }: Origins): string | undefined => {
  if (hosts?.has(url.hostname) === false) {
    throw new HttpError("host_refused", "This server does not answer to that host; list it in `hosts` if it should")
  }
  const origin = request.headers.get("origin")
  if (origin !== null) {
    if (origins.has(origin)) return origin
    if (hostOf(origin) === url.host) return undefined
    throw refused()
  }
  const site = request.headers.get("sec-fetch-site")
  if (site === null || site === "same-origin" || site === "none") return undefined
  throw refused()
}

const refused = (): HttpError =>
  new HttpError("origin_refused", "Pages of other places may not ask here; list theirs in `origins` if they should")

const hostOf = (origin: string): string | undefined => (URL.canParse(origin) ? new URL(origin).host : undefined)

/** Answers the question a browser asks before a request of another place; `undefined` for any other request. */
export const preflight = (request: Request, opened: string | undefined): Response | undefined => {
  if (request.method !== "OPTIONS" || !request.headers.has("access-control-request-method")) return undefined
  if (opened === undefined) return undefined
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": namesIn(request.headers.get("access-control-request-headers")),
      "access-control-max-age": "600"
    }
  })
}

/** The names of headers that are asked for, and nothing else. */
const namesIn = (asked: string | null): string =>
  (asked ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^[\w-]{1,64}$/u.test(name))
    .join(", ")

/** Opens a response to an origin. */
export const open = (response: Response, opened: string): void => {
  response.headers.set("access-control-allow-origin", opened)
  response.headers.set("access-control-expose-headers", "retry-after, x-vercel-ai-ui-message-stream")
  response.headers.append("vary", "origin")
}
