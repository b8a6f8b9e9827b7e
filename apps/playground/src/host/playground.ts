/**
 * The playground's server: chats, tools, store, and the built page if there is one.
 *
 * @module
 */
import { type RunningTroupe, Troupe, type TroupeOptions } from "@troupe/chat"
import type { Adapter } from "@troupe/chat/models"
import { Memory } from "@troupe/chat/memory"
import type { Store } from "@troupe/chat/store"
import type { ToolExecutor } from "@troupe/chat/tools"
import { System } from "@troupe/otp"
import { agents, team, tools } from "@troupe/scripted"
import { Server } from "@troupe/server"
import { type Listening, listen } from "@troupe/server/Node"
import { startHotel } from "./hotel.ts"
import type { OfferedModel } from "./models.ts"
import { pagesOf } from "./pages.ts"

/** The options of the playground. `pages` is the folder of the built page; without it only the chats are served. */
export interface PlaygroundOptions {
  readonly adapter: Adapter.Adapter
  readonly store: Store.Store
  readonly port?: number | undefined
  readonly pages?: string | undefined
  /** The models that a message may choose. Default: none. */
  readonly models?: ReadonlyArray<Pick<OfferedModel, "name" | "label">> | undefined
  /** The other origins whose pages may call it. */
  readonly origins?: ReadonlyArray<string> | undefined
  /** Calls the handlers of the tools. Default: they are called in this program. */
  readonly toolExecutor?: ToolExecutor.ToolExecutor | undefined
  /** Milliseconds that a tool without a deadline of its own may take. Default: that of a Troupe. */
  readonly toolTimeoutMs?: number | undefined
}

/** A running playground. */
export interface Playground {
  readonly url: string
  readonly troupe: RunningTroupe
  readonly close: () => Promise<void>
}

/** The options of the playground's Troupe, with any model and store. */
export const conversations: Omit<TroupeOptions, "adapter" | "store"> = {
  name: "playground",
  tools: [...tools, ...team, Memory.remember(), Memory.recall(), Memory.forget()],
  agents,
  drainMs: 500,
  permissions: { mode: "acceptEdits", ask: () => ({ type: "suspend" }) }
}

/** A Troupe to serve, and how. `control` is the address of the page's other server, which controls the nodes of a cluster. */
export interface ServedTroupe extends Pick<PlaygroundOptions, "port" | "pages" | "origins" | "models"> {
  readonly troupe: Server.ServerOptions["troupe"]
  readonly control?: string | undefined
}

/** Serves a Troupe on the loopback interface. Everybody on this machine may use it: it has one owner, who may observe. */
export const servePlayground = async (options: ServedTroupe): Promise<Listening> => {
  const pages = options.pages === undefined ? undefined : await pagesOf(options.pages, options.control)
  const models = (options.models ?? []).map(({ name, label }) => ({ name, label }))
  const server = Server.make({
    troupe: options.troupe,
    authorize: () => ({ owner: "you", may: { approve: true, observe: true, models: models.map(({ name }) => name) } }),
    exposeToolErrors: true,
    basePath: "/troupe",
    origins: options.origins ?? []
  })
  const fetch = async (request: Request): Promise<Response> =>
    new URL(request.url).pathname === "/models.json"
      ? Response.json(models)
      : (pages?.(request) ?? server.fetch(request))
  return listen({ ...server, fetch }, { port: options.port ?? 0 })
}

/** Starts a Troupe and its server. */
export const startPlayground = async ({
  adapter,
  store,
  toolExecutor,
  toolTimeoutMs,
  ...served
}: PlaygroundOptions): Promise<Playground> => {
  const system = System.make({ name: "playground" })
  const start = async () => {
    const hotel = await startHotel(system)
    const own = [...(conversations.tools ?? []), ...hotel.tools]
    const options = { ...conversations, system, tools: own, adapter, store, toolExecutor, toolTimeoutMs }
    const troupe = await Troupe.start(options)
    return { troupe, listening: await servePlayground({ ...served, troupe }) }
  }
  const { troupe, listening } = await start().catch(async (error: unknown) => {
    await System.stop(system)
    throw error
  })
  return {
    url: listening.url,
    troupe,
    close: async () => {
      await listening.close()
      await troupe.stop()
      await System.stop(system)
    }
  }
}
