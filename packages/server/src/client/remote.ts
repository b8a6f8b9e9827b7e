/**
 * A client's requests to a server, and their errors.
 *
 * REMOTE1. A refused request rejects with the server's own `HttpError`. A request that did not arrive, or that got no valid
 *          answer, rejects with a `ConnectionError`.
 */
import type { Clock } from "@troupe/otp"
import { ConnectionError, type ErrorCode, HttpError } from "../errors/index.ts"

/** The access to a server. */
export interface Remote {
  readonly clock: Clock.Clock
  /** A number from 0 to 1, which spreads the time between two tries. */
  readonly random: () => number
  /** Sends a request, and returns the answer's JSON. */
  readonly ask: (method: string, path: string, body?: unknown, signal?: AbortSignal) => Promise<unknown>
  /** Requests a stream of events. */
  readonly open: (path: string, signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>
}

/** The options of requests. */
export interface RemoteOptions {
  /** The base URL of the server's paths. */
  readonly url: string
  /** Sends the requests. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Returns the headers of a request. */
  readonly headers: () => HeadersInit | Promise<HeadersInit>
  /** The clock of timeouts and of the waits between two tries. */
  readonly clock: Clock.Clock
  /** Spreads the times between two tries. */
  readonly random: () => number
}

export const makeRemote = ({ url, fetch, headers, clock, random }: RemoteOptions): Remote => {
  const base = url.endsWith("/") ? url.slice(0, -1) : url

  const request = async (path: string, init: RequestInit, own: Readonly<Record<string, string>>): Promise<Response> => {
    const all = new Headers(await headers())
    for (const [name, value] of Object.entries(own)) all.set(name, value)
    let response: Response
    try {
      response = await fetch(`${base}${path}`, { ...init, headers: all })
    } catch (cause) {
      throw new ConnectionError(
        `The server at ${base} was not reached; a chat that is shown tries again by itself, and a verb may be called again`,
        {
          cause
        }
      )
    }
    if (!response.ok) throw await refusal(response)
    return response
  }

  return {
    clock,
    random,
    ask: async (method, path, body, signal) => {
      const sent = { ...(body === undefined ? {} : { body: JSON.stringify(body) }), ...(signal && { signal }) }
      const type: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" }
      const response = await request(path, { method, ...sent }, { accept: "application/json", ...type })
      try {
        return await response.json()
      } catch (cause) {
        throw new ConnectionError(`The answer of the server at ${base} was cut, or is no JSON`, { cause })
      }
    },
    open: async (path, signal) => {
      const { body } = await request(path, { method: "GET", signal }, { accept: "text/event-stream" })
      if (body === null) throw new ConnectionError(`The server at ${base} answered a stream without a body`)
      return body
    }
  }
}

const refusal = async (response: Response): Promise<Error> => {
  try {
    const error = httpErrorOf(await response.json(), response.status)
    if (error !== undefined) return error
  } catch {
    // A proxy answered with a body of its own: only the status is known.
  }
  return new ConnectionError(`The server answered ${response.status} and no typed error`, { status: response.status })
}

/** The error in a server's JSON, of an answer with this status; `undefined` for other JSON. */
export const httpErrorOf = (json: unknown, status: unknown): HttpError | undefined => {
  if (!isRecord(json) || !isRecord(json["error"])) return undefined
  const { code, message, issues, retryAfterMs, id, decided } = json["error"]
  if (typeof code !== "string" || typeof status !== "number") return undefined
  return new HttpError(code as ErrorCode, typeof message === "string" ? message : code, {
    status,
    ...(Array.isArray(issues) ? { issues } : {}),
    ...(typeof retryAfterMs === "number" ? { retryAfterMs } : {}),
    ...(typeof id === "string" ? { id } : {}),
    ...(isRecord(decided) ? { decided } : {})
  })
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
