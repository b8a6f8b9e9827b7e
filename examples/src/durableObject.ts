/**
 * Cloudflare Workers: a Durable Object has the chats of one owner.
 *
 * A Troupe of the module answers the first request and fails the next: a worker must not use the streams and timers of another
 * request. All requests of one Durable Object share them. It is in memory only while it has requests, so give the Troupe a
 * store outside.
 */
import type { Server } from "@troupe/server"
import { start } from "./chats.ts"

/** The part of a Durable Object's binding that the worker uses. */
interface Binding {
  readonly idFromName: (name: string) => unknown
  readonly get: (id: unknown) => { readonly fetch: (request: Request) => Promise<Response> }
}

/** The chats of one owner. */
export class Chats {
  #server: Promise<Server.Server> | undefined

  async fetch(request: Request): Promise<Response> {
    this.#server ??= start("/chat")
    return (await this.#server).fetch(request)
  }
}

const worker = {
  fetch: (request: Request, { CHATS }: { readonly CHATS: Binding }): Promise<Response> => {
    const owner = request.headers.get("authorization") ?? "anna"
    return CHATS.get(CHATS.idFromName(owner)).fetch(request)
  }
}

export default worker
