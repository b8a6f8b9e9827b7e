/**
 * `node deployNode.ts <options as JSON>`: one node of a cluster, with a server for each client, until it gets SIGTERM. It writes a line
 * when it is ready, one for each payment, and one for each reply that it begins.
 */
import { Fake, tool } from "@troupe/chat"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { postgres } from "@troupe/store/Postgres"
import * as z from "zod"
import * as Cluster from "../../src/node/Cluster.ts"
import { type DeployOptions, pieces, warm } from "./deployed.ts"

const { url, role, leaseMs, clients } = JSON.parse(process.argv[2] ?? "{}") as DeployOptions

const write = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const adapter = Fake.make({
  respond: ({ messages }) => {
    const asked = messages.findLastIndex(({ role: by }) => by === "user")
    const payer = messages[asked]?.content
    if (payer === warm) return [{ text: "." }, { finish: "stop" }]
    if (messages.slice(asked).some(({ role: by }) => by === "tool")) {
      write({ replying: payer })
      return [...pieces.flatMap((text) => [{ text }, { delayMs: 400 }]), { finish: "stop" }]
    }
    return [{ toolCall: { id: `pay-${asked}`, name: "pay", arguments: { payer } } }, { finish: "tool_calls" }]
  }
})
const pay = tool({
  name: "pay",
  effect: "write",
  parameters: z.object({ payer: z.string() }),
  execute: ({ payer }) => {
    write({ payer })
    return "paid"
  }
})

const store = postgres(url, { maxConnections: 4 })
const cluster = { url, role, leaseMs, listen: "127.0.0.1:0", secret: "the secret of a deploy" }
const troupe = await Cluster.start({ adapter, tools: [pay], store, cluster })
const servers = new Map(
  clients.map((name) => [
    `/${name}`,
    Server.make({ troupe, basePath: `/${name}`, authorize: () => ({ owner: name, may: { approve: true } }) })
  ])
)
const [first] = [...servers.values()]
if (first === undefined) throw new Error("a node without clients")
const server: Server.Server = {
  ...first,
  fetch: async (request) => {
    const { pathname } = new URL(request.url)
    const response = await (servers.get(/^\/[^/]+/u.exec(pathname)?.[0] ?? "") ?? first).fetch(request)
    write({ answers: pathname, status: response.status })
    return response
  },
  close: async () => void (await Promise.all([...servers.values()].map((one) => one.close())))
}
const { url: base, close } = await listen(server, { graceMs: 60_000 })
process.once("SIGTERM", async () => {
  await close()
  write({ closed: "server" })
  await troupe.stop()
  write({ closed: "node" })
  await store.close?.()
})
write({ ready: base })
