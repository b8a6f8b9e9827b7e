/** The routes of the chats of a cluster, as this program calls them, and their errors. */
import { SessionError, ValidationError } from "@troupe/chat/errors"
import type { Clock } from "@troupe/otp"
import { Server } from "@troupe/server"
import { HttpError, isErrorCode } from "@troupe/server/HttpError"
import { pause as pauseUntil } from "../placement/index.ts"

/** The access to all chats of a cluster. */
export interface NodeClient {
  readonly clock: Clock.Clock
  readonly newId: () => string
  /** Aborted when the node stops. Nothing is asked afterwards: each request rejects with `troupe_stopped`, at once. */
  readonly closed: AbortSignal
  /** Sends a request, and returns the answer's JSON. Rejects with the errors of a chat. */
  readonly ask: (method: "GET" | "POST" | "DELETE", path: string, body?: unknown) => Promise<unknown>
  /** Requests bytes. Rejects as `ask` does. */
  readonly bytes: (path: string) => Promise<Uint8Array>
  /** Requests a stream. Rejects as `ask` does. */
  readonly open: (path: string, signal: AbortSignal, body?: unknown) => Promise<Opened>
}

/** A stream: the headers of its answer, and its events. */
interface Opened {
  readonly headers: Headers
  readonly frames: AsyncGenerator<SentFrame, void>
}

/** An event of a stream: its data, and its id if it has one. */
export interface SentFrame {
  readonly id: string | undefined
  readonly data: Readonly<Record<string, unknown>>
}

/** The access through the server that `Server.forNodes` made, which finds the home of each chat. */
export const nodeClient = (
  server: Pick<Server.Server, "fetch">,
  clock: Clock.Clock,
  newId: () => string,
  closed: AbortSignal
): NodeClient => {
  const request = async (
    method: string,
    path: string,
    accept: string,
    body: unknown,
    signal?: AbortSignal
  ): Promise<Response> => {
    if (closed.aborted) throw nodeStopped()
    const headers = { accept, ...(body === undefined ? {} : { "content-type": "application/json" }) }
    const init: RequestInit = { method, headers, ...(signal === undefined ? {} : { signal }) }
    const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) }
    const response = await whileOpen(closed, server.fetch(new Request(`http://cluster${path}`, sent)))
    if (response.ok) return response
    throw chatErrorOf(await jsonOf(response))
  }
  return {
    clock,
    newId,
    closed,
    ask: async (method, path, body) => whileOpen(closed, jsonOf(await request(method, path, "application/json", body))),
    bytes: async (path) => {
      const answer = await request("GET", path, "*/*", undefined)
      const read = answer.arrayBuffer().catch((cause: unknown) => {
        throw cut(cause)
      })
      return new Uint8Array(await whileOpen(closed, read))
    },
    open: async (path, left, body) => {
      const signal = AbortSignal.any([left, closed])
      const method = body === undefined ? "GET" : "POST"
      const { headers, body: stream } = await request(method, path, "text/event-stream", body, signal)
      return { headers, frames: framesOf(stream ?? new ReadableStream(), signal) }
    }
  }
}

/** The value of some work of the node. Rejects when the node stops. */
const whileOpen = async <A>(closed: AbortSignal, work: Promise<A>): Promise<A> => {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const end = (): void => reject(nodeStopped())
  closed.addEventListener("abort", end, { once: true })
  try {
    return await Promise.race([work, ended])
  } finally {
    closed.removeEventListener("abort", end)
  }
}

const nodeStopped = (): SessionError =>
  new SessionError("troupe_stopped", "This node has stopped; ask a chat of another node")

/** The error of an answer that has not arrived whole. */
const cut = (cause: unknown): SessionError =>
  new SessionError("moved", "The answer of the chat's home was cut; ask again", { cause })

const jsonOf = async (response: Response): Promise<unknown> => {
  try {
    return await response.json()
  } catch (cause) {
    throw cut(cause)
  }
}

/** The events of a stream. An aborted signal ends them. */
async function* framesOf(stream: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<SentFrame, void> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  const leave = (): void => void reader.cancel().catch(() => {})
  signal.addEventListener("abort", leave, { once: true })
  if (signal.aborted) leave()
  let unread = ""
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw cut(cause)
      })
      if (done) return
      unread += decoder.decode(value, { stream: true })
      const events = unread.split("\n\n")
      unread = events.pop() ?? ""
      for (const event of events) {
        const data = lineOf(event, "data")
        if (data === undefined) continue
        yield { id: lineOf(event, "id"), data: JSON.parse(data) as SentFrame["data"] }
      }
    }
  } finally {
    signal.removeEventListener("abort", leave)
    leave()
  }
}

/** The value of a field of an event. Only a line feed ends a line: a text may have other separators, as U+2028. */
const lineOf = (event: string, field: string): string | undefined =>
  event
    .split("\n")
    .find((line) => line.startsWith(`${field}: `))
    ?.slice(field.length + 2)

/** Throws a `ValidationError` for an id that no path can have. */
const checkedPath = <A>(path: () => A): A => {
  try {
    return path()
  } catch (error) {
    throw error instanceof HttpError ? new ValidationError("invalid_options", error.issues ?? []) : error
  }
}

/** The part of a path for an id. */
export const pathPart = (field: string, id: string): string => checkedPath(() => Server.pathPart(field, id))

/** The path of a verb below its chat, and its body. */
export const requestOf: typeof Server.requestOf = (verb, ...args) => checkedPath(() => Server.requestOf(verb, ...args))

/** The error of a refusal: that of a local chat, if a chat refused. */
export const chatErrorOf = (json: unknown): Error => {
  const error = fieldOf(json, "error")
  const code = String(fieldOf(error, "code"))
  const message = String(fieldOf(error, "message"))
  const issues = fieldOf(error, "issues")
  if (code === "invalid_input" && Array.isArray(issues)) return new ValidationError("invalid_options", issues)
  if (isSessionReason(code)) return new SessionError(code, message, { metadata: metadataIn(error) })
  return isErrorCode(code) ? new HttpError(code, message) : new SessionError("store_failed", message)
}

/** The metadata that the home of the chat sent. */
const metadataIn = (error: unknown): Readonly<Record<string, unknown>> => {
  const metadata = fieldOf(error, "metadata")
  return typeof metadata === "object" && metadata !== null ? { ...metadata } : {}
}

const isSessionReason = (code: string): code is SessionError["reason"] =>
  (SessionError.reasons as ReadonlyArray<string>).includes(code)

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined

/** How often in a row a request is sent again after an error that its home did not expect. */
const mostUnexpected = 10

/**
 * Makes a test of the errors of one request: whether the home has changed or is not reached, so that the same request may
 * succeed soon. No error passes once the node has stopped.
 */
export const passingFor = ({ closed }: Pick<NodeClient, "closed">): ((error: unknown) => boolean) => {
  let unexpected = 0
  return (error) => {
    if (closed.aborted) return false
    if (error instanceof SessionError) return passing.has(error.reason)
    if (!(error instanceof HttpError)) return false
    unexpected = error.code === "internal" ? unexpected + 1 : 0
    return passing.has(error.code) && unexpected <= mostUnexpected
  }
}

const passing: ReadonlySet<string> = new Set([
  "closing",
  "home_silent",
  "internal",
  "moved",
  "store_conflict",
  "store_fenced",
  "troupe_stopped"
])

/** Resolves after some time, when the signal is aborted, or when the node stops. */
export const pause = ({ clock, closed }: NodeClient, ms: number, left?: AbortSignal): Promise<void> =>
  pauseUntil(clock, ms, [left, closed])
