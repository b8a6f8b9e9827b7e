/**
 * Refuses requests of pages of other sites, unless their origin is listed.
 *
 * ORIGIN1. A browser's request for a page of another site is refused unless its origin is listed. The site is read from
 *          `origin`, and without that from `sec-fetch-site`.
 * ORIGIN2. When hosts are listed, any other host is refused. This prevents DNS rebinding.
 * ORIGIN3. A page of the host that the client requested is allowed, whatever host a proxy or a framework wrote into the URL
 *          of the request: by `sec-fetch-site: same-origin`, else by the `host` header.
 */
import { HttpError, quoted } from "../errors/index.ts"

/** The origins that may call the server, and how the requested host is found. */
export interface Origins {
  readonly origins: ReadonlySet<string>
  readonly hosts: ReadonlySet<string> | undefined
  readonly trustForwardedHost: boolean
}

/** Returns the origin that may read the response, if there is one. Throws an `HttpError` (403). */
export const checkOrigin = (request: Request, url: URL, places: Origins): string | undefined => {
  const { origins, hosts } = places
  const { headers } = request
  const host = hostAsked(headers, places.trustForwardedHost) ?? url.host
  const name = hostOf(`http://${host}`, "hostname") ?? url.hostname
  if (hosts?.has(name) === false) {
    throw new HttpError(
      "host_refused",
      `This server does not answer to the host ${quoted(name)}; list it in \`hosts\` if it should`
    )
  }
  const site = headers.get("sec-fetch-site")
  const origin = headers.get("origin")
  if (origin !== null && origins.has(origin)) return origin
  if (site === "same-origin") return undefined
  if (origin !== null) {
    // The host header omits the default port of its page's scheme.
    if (isOf(origin, host)) return undefined
    throw refused(origin, host)
  }
  if (site === null || site === "none") return undefined
  throw refused(site, host)
}

/** The host that the client requested, from the headers. Of a list the first counts: each proxy appends its own. */
const hostAsked = (headers: Headers, trustForwardedHost: boolean): string | undefined => {
  const forwarded = trustForwardedHost ? headers.get("x-forwarded-host")?.split(",", 1).join("").trim() : undefined
  return forwarded || headers.get("host") || undefined
}

const isOf = (origin: string, host: string): boolean => {
  const page = hostOf(origin, "host")
  // A `file:` page has an empty host.
  return page !== undefined && page !== "" && page === hostOf(`${new URL(origin).protocol}//${host}`, "host")
}

const hostOf = (url: string, part: "host" | "hostname"): string | undefined =>
  URL.canParse(url) ? new URL(url)[part] : undefined

const refused = (from: string, host: string): HttpError =>
  new HttpError(
    "origin_refused",
    `A page of ${quoted(from)} may not ask the host ${quoted(host)}. ` +
      "If it should, list its origin in `origins`, as https://app.example.com. " +
      "If it is a page of this server behind a proxy that replaces the host header, set `trustForwardedHost`"
  )

/** Answers a CORS preflight request; `undefined` for any other request. */
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

/** The names of the requested headers, and nothing else. */
const namesIn = (asked: string | null): string =>
  (asked ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^[\w-]{1,64}$/u.test(name))
    .join(", ")

/** Allows an origin to read a response. */
export const open = (response: Response, opened: string): void => {
  response.headers.set("access-control-allow-origin", opened)
  response.headers.set("access-control-expose-headers", "retry-after, x-vercel-ai-ui-message-stream")
  response.headers.append("vary", "origin")
}
