/**
 * The playground's server: chats, tools, store, and the built page if there is one.
 *
 * @module
 */
import { type RunningTroupe, Troupe } from "@troupe/chat"
import type { Adapter } from "@troupe/chat/models"
import type { Store } from "@troupe/chat/store"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { pagesOf } from "./pages.ts"
import { tools } from "./tools.ts"

/** The options of the playground. `pages` is the folder of the built page; without it only the chats are served. */
export interface PlaygroundOptions {
  readonly adapter: Adapter.Adapter
  readonly store: Store.Store
  readonly port?: number | undefined
  readonly pages?: string | undefined
  /** The other origins whose pages may call it. */
  readonly origins?: ReadonlyArray<string> | undefined
}

/** A running playground. */
export interface Playground {
  readonly url: string
  readonly troupe: RunningTroupe
  readonly close: () => Promise<void>
}

/** Starts it on the loopback interface. Everybody on this machine may use it: it has one owner, who may observe. */
export const startPlayground = async (options: PlaygroundOptions): Promise<Playground> => {
  const pages = options.pages === undefined ? undefined : await pagesOf(options.pages)
  const troupe = await Troupe.start({
    name: "playground",
    adapter: options.adapter,
    tools,
    store: options.store,
    drainMs: 500,
    permissions: { mode: "acceptEdits", ask: () => ({ type: "suspend" }) }
  })
  const server = Server.make({
    troupe,
    authorize: () => ({ owner: "you", may: { approve: true, observe: true } }),
    exposeToolErrors: true,
    basePath: "/troupe",
    origins: options.origins ?? []
  })
  const fetch = async (request: Request): Promise<Response> => pages?.(request) ?? server.fetch(request)
  const listening = await listen({ ...server, fetch }, { port: options.port ?? 0 })
  return {
    url: listening.url,
    troupe,
    close: async () => {
      await listening.close()
      await troupe.stop()
    }
  }
}
