/** Converts Node's request to a `Request`. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { HttpError } from "../errors/index.ts"

/** Throws an `HttpError` (400, 405) for a malformed request. */
export const toRequest = (incoming: IncomingMessage, outgoing: ServerResponse): Request => {
  const url = urlOf(incoming)
  const method = incoming.method ?? "GET"
  const gone = new AbortController()
  const request = made(url, { method, headers: headersOf(incoming), signal: gone.signal }, incoming)
  outgoing.once("close", () => {
    // A request's signal follows another only while the request is referenced. This closure references it.
    if (!outgoing.writableFinished && !request.signal.aborted) gone.abort()
  })
  return request
}

const made = (url: URL, init: RequestInit & { readonly method: string }, incoming: IncomingMessage): Request => {
  try {
    if (init.method === "GET" || init.method === "HEAD") return new Request(url, init)
    const read = readBody(incoming)
    const withBody: RequestInit & { duplex: "half" } = { ...init, body: read ?? bodyOf(incoming), duplex: "half" }
    return new Request(url, withBody)
  } catch (cause) {
    const headers = { allow: "GET, POST, DELETE" }
    throw new HttpError("method_not_allowed", "This method is not served", { cause, headers })
  }
}

/** The body that a parser of a framework has read before, as text. */
const readBody = (incoming: IncomingMessage & { readonly body?: unknown }): string | undefined => {
  const { body } = incoming
  if (!incoming.readableEnded || body === undefined) return undefined
  return typeof body === "string" ? body : JSON.stringify(body)
}

/** A name or an address, and optionally a port: nothing that could be parsed as another part of a URL. */
const hostShape = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/iu

const urlOf = ({ url = "", headers: { host = "" } }: IncomingMessage): URL => {
  if (!hostShape.test(host) || !URL.canParse(`http://${host}`)) {
    throw new HttpError("invalid_host", "The host header names no host")
  }
  const target = url.startsWith("/") ? url : pathOf(url)
  if (target === undefined || !URL.canParse(`http://${host}${target}`)) {
    throw new HttpError("invalid_path", "The request's target is no path")
  }
  return new URL(`http://${host}${target}`)
}

/** Returns the path of a target. Of an absolute URL only the path is used. */
const pathOf = (target: string): string | undefined => {
  if (!/^https?:\/\//iu.test(target) || !URL.canParse(target)) return undefined
  const { pathname, search } = new URL(target)
  return pathname + search
}

const headersOf = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers()
  try {
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? "", rawHeaders[at + 1] ?? "")
    return headers
  } catch (cause) {
    throw new HttpError("malformed_request", "A header is not well formed", { cause })
  }
}

/** Reads the body on demand. Cancelling the reader does not cut the connection, which still carries the answer. */
const bodyOf = (incoming: IncomingMessage): ReadableStream<Uint8Array> => {
  let chunks: AsyncIterator<Uint8Array> | undefined
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        chunks ??= incoming.iterator({ destroyOnReturn: false })
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => void (await chunks?.return?.())
    },
    { highWaterMark: 0 }
  )
}
