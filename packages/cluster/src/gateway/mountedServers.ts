/**
 * The servers of this node that answer forwarded requests.
 *
 * Owns: these servers, by their names. Does not own their streams.
 *
 * CLUSTER10. A node that is not the home of the conversation answers a forwarded request with 421, never with the state of
 *            another home. Its sender forgets the home that it remembered, and looks it up again until its deadline.
 * HOP5. Other nodes find a server by its name. While a server of this node is open, no other one takes its name.
 * FORWARD4. `close` of a server ends the streams of its own clients only. Forwarded requests are answered until the node
 *           has left the cluster.
 */
import { ValidationError } from "@troupe/chat/errors"
import { HttpError } from "@troupe/server/HttpError"
import { type Accepted, misdirected } from "../inner/index.ts"
import type { ForwardedRequest, Mounted } from "./forwardedRequest.ts"
import type { Note } from "./note.ts"

type ForwardNote = Extract<Note, { readonly type: "forward" }>

export class MountedServers {
  readonly #servers = new Map<string, Mounted>()

  /** Throws a `ValidationError` (`invalid_options`) for the name of an open server (HOP5). */
  readonly mount = (name: string, mounted: Mounted): void => {
    if (this.#servers.get(name)?.isClosed() === false) throw taken(name)
    this.#servers.set(name, mounted)
  }

  /** Ends the streams of all forwarded requests (FORWARD4). */
  async close(): Promise<void> {
    await Promise.all(Array.from(this.#servers.values(), (mounted) => mounted.close()))
  }

  /** Answers a request that another node has forwarded (CLUSTER10). */
  async answer(note: ForwardNote, accepted: Accepted): Promise<Response> {
    try {
      return await this.handle(note, accepted)
    } catch (error) {
      if (error instanceof HttpError && error.code === "misdirected") return misdirected()
      throw error
    }
  }

  /** Answers a request whose home or node is this one. */
  async handle(
    note: ForwardNote,
    { method, body, signal }: Pick<ForwardedRequest, "method" | "body" | "signal">
  ): Promise<Response> {
    const { server, url, headers } = note
    const mounted = this.#servers.get(server)
    // One server is that between nodes.
    if (mounted === undefined) throw this.#servers.size > 1 ? noServer() : noServerYet()
    const init: RequestInit = {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      signal
    }
    const hasBody = method !== "GET" && method !== "HEAD" && body !== undefined && body.byteLength > 0
    const request = new Request(url, hasBody ? { ...init, body } : init)
    return mounted.handle(request, note)
  }
}

/** HOP5 */
const taken = (name: string): ValidationError => {
  const reason = `must differ from that of the other server of this node, ${JSON.stringify(name)}: other nodes find a server by it; write basePath: "/second", or close the other server first`
  return new ValidationError("invalid_options", [{ field: ["basePath"], reason }])
}

/** HOP6: a node that has just joined may be the home of conversations before its program has made its servers. */
const noServerYet = (): HttpError => new HttpError("misdirected", "The conversation's server is not made yet")

const noServer = (): HttpError =>
  new HttpError("not_found", "The conversation's server does not have these paths; make the same servers on every node")
