/** The chats behind Hono. They answer below `/chat`; every other path is yours. */
import { Troupe, type TroupeOptions } from "@troupe/chat"
import { Server } from "@troupe/server"
import { Hono } from "hono"
import { agent } from "./agent.ts"

export const start = async (options: TroupeOptions) => {
  const troupe = await Troupe.start({ ...agent, ...options })
  const server = Server.make({
    troupe,
    basePath: "/chat",
    // Your login goes here: `owner` is the user whose conversations the request sees, and `may` is what the user may decide.
    authorize: () => ({ owner: "anna", may: { approve: true } })
  })
  const app = new Hono()
  app.get("/", (context) => context.text("The chats are below /chat.\n"))
  app.all("/chat/*", (context) => server.fetch(context.req.raw))
  const stop = async (): Promise<void> => {
    await server.close()
    await troupe.stop()
  }
  return { app, stop }
}
