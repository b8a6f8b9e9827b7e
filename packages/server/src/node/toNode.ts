/** Runs a fetch handler in a server that another framework made of Node's HTTP. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Clock, System } from "@troupe/otp"
import { refusalOf, responseOfRefusal } from "../http/index.ts"
import { toRequest } from "./incoming.ts"
import { write } from "./outgoing.ts"

/** A handler of Node's HTTP. It resolves when the client has the answer, or has disconnected. It never rejects. */
export type NodeHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>

/** How answers are written. */
export interface ToNodeOptions {
  /** How long a client may take nothing of its answer before it is disconnected, in milliseconds. Default: 120,000. */
  readonly stallMs?: number | undefined
  /** The clock of `stallMs`. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
  /** Whether the server closes; each answer then closes its connection. Default: it never does. */
  readonly closing?: (() => boolean) | undefined
}

/**
 * Makes a handler of Node's HTTP from a fetch handler, for Express, Fastify, or `createServer`.
 *
 * **Details**: answers are written as {@link listen} writes them. A body that a parser of the framework has read
 * is taken from `incoming.body`. The limits of connections and of request times belong to the framework's server.
 *
 * **Gotchas**: the path is that of `incoming.url`. Express removes the path of a router from it, so a server behind
 * `app.use("/chat", …)` has no `basePath`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { createServer } from "node:http"
 * import { Fake, Troupe } from "@troupe/chat"
 * import { Server } from "@troupe/server"
 * import { toNode } from "@troupe/server/Node"
 *
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
 * const server = Server.make({ troupe, authorize: () => ({ owner: "anna" }) })
 * const http = createServer(toNode(server.fetch))
 * await new Promise<void>((resolve) => http.listen(0, resolve))
 * const { port } = http.address() as { port: number }
 *
 * const response = await fetch(`http://127.0.0.1:${port}/chats/c1`)
 * response.status // => 404
 * await server.close()
 * http.close()
 * http.closeAllConnections()
 * await troupe.stop()
 * ```
 */
export const toNode =
  (fetch: (request: Request) => Response | Promise<Response>, options: ToNodeOptions = {}): NodeHandler =>
  (incoming, outgoing) =>
    respond(outgoing, () => fetch(toRequest(incoming, outgoing)), options)

const respond = async (
  outgoing: ServerResponse,
  answer: () => Response | Promise<Response>,
  { stallMs = 120_000, clock = Clock.live, closing = () => false }: ToNodeOptions
): Promise<void> => {
  try {
    const response = await answered(answer)
    if (closing()) response.headers.set("connection", "close")
    await write(outgoing, response, { stallMs, clock })
    detachRequest(clock, outgoing)
  } catch {
    // The stream failed, and the server has reported the error. Cutting the connection shows the client that it is
    // incomplete.
    outgoing.destroy()
  }
}

/** The answer, or the refusal of an `HttpError`. Any other error is reported, and rejects. */
export const answered = async (answer: () => Response | Promise<Response>): Promise<Response> => {
  try {
    return await answer()
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal !== undefined) return responseOfRefusal(refusal)
    System.report((ofHandlers ??= System.make({ name: "fetch" })), { subject: "The fetch handler failed", error })
    throw error
  }
}

/** The system whose log gets the errors of handlers that are no server's. */
let ofHandlers: System.System | undefined

/** How long a client may continue to send a body that was refused, in milliseconds. */
const discardMs = 1_000

/** Discards the rest of an answered request for `discardMs`. Closing the connection at once would lose the answer. */
const detachRequest = (clock: Clock.Clock, { req }: ServerResponse): void => {
  if (req.complete || req.destroyed) return
  const timer = clock.setTimeout(() => req.destroy(), discardMs)
  req.once("close", () => clock.clearTimeout(timer))
  req.resume()
}
