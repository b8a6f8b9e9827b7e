/**
 * The pages that may call the server.
 *
 * MCPO1. A request from a page of another host is refused unless its origin is listed, and so is one to a host that is not listed when hosts
 *        are.
 * MCPO2. Pages of listed origins may read the responses; no other page of another origin may.
 */
import type { McpServeOptions } from "./served.ts"

/** Answers a request of a page, by `answer` if its page may call. */
export const forPages = async (
  request: Request,
  { origins = [], hosts }: Pick<McpServeOptions, "origins" | "hosts">,
  answer: () => Promise<Response>
): Promise<Response> => {
  const origin = request.headers.get("origin")
  const host = request.headers.get("host") ?? new URL(request.url).host
  if (hosts?.includes(new URL(`http://${host}`).hostname) === false)
    return new Response("This server does not answer to this host; list it in `hosts`", { status: 403 })
  if (origin === null) return answer()
  if (!origins.includes(origin)) {
    const isOwn = URL.canParse(origin) && new URL(origin).host === host
    return isOwn ? answer() : new Response("List the origin of this page in `origins`", { status: 403 })
  }
  const response = request.method === "OPTIONS" ? preflight(request) : await answer()
  const headers = new Headers(response.headers)
  headers.set("access-control-allow-origin", origin)
  headers.set("access-control-expose-headers", "mcp-session-id, mcp-protocol-version, www-authenticate")
  headers.append("vary", "origin")
  return new Response(response.body, { status: response.status, headers })
}

/** The answer to the question of a browser whether it may send a request. */
const preflight = (request: Request): Response => {
  const asked = (request.headers.get("access-control-request-headers") ?? "").split(",").map((name) => name.trim())
  const headers = asked.filter((name) => /^[\w-]{1,64}$/u.test(name)).join(", ")
  return new Response(undefined, {
    status: 204,
    headers: {
      "access-control-allow-methods": "GET, POST, DELETE",
      "access-control-allow-headers": headers,
      "access-control-max-age": "600"
    }
  })
}
