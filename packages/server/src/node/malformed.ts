/** Answers malformed requests, which never reach a handler. */
import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import type { Clock } from "@troupe/otp"
import { bodyOf, type ErrorCode, HttpError, statusOf } from "../errors/index.ts"

/** How long a client that was refused may leave its connection open, in milliseconds. */
const lingerMs = 1_000

/** Destroys a socket that is sending an answer: a second answer would be read as part of the first. */
export const refuseMalformed = (
  error: Error & { readonly code?: string },
  socket: Duplex,
  clock: Clock.Clock
): void => {
  if (!socket.writable || isAnswering(socket) || error.code === "ECONNRESET") return void socket.destroy()
  const refusal = new HttpError(codeOf(error), "This is no request that can be answered; the connection is closed")
  const status = statusOf(refusal.code)
  const text = JSON.stringify(bodyOf(refusal))
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n` +
      "content-type: application/json\r\nconnection: close\r\n" +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  )
  const timer = clock.setTimeout(() => socket.destroy(), lingerMs)
  socket.once("close", () => clock.clearTimeout(timer))
}

const codeOf = ({ code }: { readonly code?: string }): ErrorCode => {
  if (code === "HPE_HEADER_OVERFLOW") return "headers_too_large"
  return code === "ERR_HTTP_REQUEST_TIMEOUT" ? "request_timeout" : "malformed_request"
}

const isAnswering = (socket: Duplex): boolean => {
  const answer: unknown = Reflect.get(socket, "_httpMessage")
  return typeof answer === "object" && answer !== null && Reflect.get(answer, "headersSent") === true
}
