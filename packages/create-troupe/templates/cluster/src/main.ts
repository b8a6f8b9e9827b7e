/** Serves the chats, as one node. `HOST`, `PORT` and the variables of `chats.ts` configure it. */
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { startChats } from "./chats.ts"
import { withProbes } from "./probes.ts"

const { HOST = "127.0.0.1", PORT = "8080" } = process.env

const { troupe, stop } = await startChats()
// Your login goes here: `owner` is the user whose conversations the request sees, and `may` is what the user may decide.
const server = Server.make({ troupe, authorize: () => ({ owner: "anna", may: { approve: true } }) })
const { url, close } = await listen(withProbes(server), { host: HOST, port: Number(PORT), graceMs: 10_000 })
console.log(url)

process.once("SIGTERM", async () => {
  await close()
  await stop()
})
