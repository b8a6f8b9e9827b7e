import { Fake, tool, type TroupeOptions } from "@troupe/chat"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { postgres } from "@troupe/store/Postgres"
import { beforeAll, describe, expect, onTestFinished, test } from "vitest"
import * as z from "zod"
import { type PostgresAddress, workerPostgres } from "../../../store/test/double/postgresServer.ts"
import { queries } from "../../../store/test/double/queries.ts"
import * as Cluster from "../../src/node/Cluster.ts"
import { certificates } from "../double/certificates.ts"
import { post, secret, until } from "../double/clusterNodes.ts"
import { freshSchema } from "../double/postgresTable.ts"

let server: PostgresAddress
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)

/** Longer than a test: a test that waits for a lease fails. */
const leaseMs = 600_000
const spread = { timeout: 30_000, interval: 20 }

interface Started {
  readonly troupe: Cluster.ClusterTroupe
  readonly stop: () => Promise<void>
}

/** Starts nodes of one cluster in a database of its own, each with its own store. */
const cluster = async (options: Partial<TroupeOptions>, more: Partial<Cluster.ClusterOptions> = {}) => {
  const schema = freshSchema()
  await queries(server.url, [`CREATE DATABASE ${schema}`])
  const database = new URL(server.url)
  database.pathname = `/${schema}`
  const url = database.href
  const errors: Array<unknown> = []
  const node = async (role: "home" | "gateway" = "home"): Promise<Started> => {
    const store = postgres(url, { schema })
    const onError = (error: unknown): void => void errors.push(error)
    const own = { url, schema, listen: "127.0.0.1:0", secret, leaseMs, role, onError, ...more }
    const troupe = await Cluster.start({ adapter: greeting(), ...options, store, cluster: own })
    let stopping: Promise<void> | undefined
    const stop = (): Promise<void> =>
      (stopping ??= (async () => {
        await troupe.stop()
        await store.close?.()
      })())
    onTestFinished(stop)
    return { troupe, stop }
  }
  return { schema, errors, node }
}

const greeting = (): TroupeOptions["adapter"] => Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] })

const some = Array.from({ length: 64 }, (_, index) => `anna/c${index}`)

/** Waits until each of some conversations has one home, and each node is one; the id of a chat of the last node. */
const placedAt = async (...nodes: ReadonlyArray<Started>): Promise<string> => {
  const of = ({ troupe }: Started) => some.filter((id) => troupe.isHome(id))
  await expect
    .poll(() => {
      const shares = nodes.map((node) => of(node).length)
      return [shares.every((share) => share > 0), shares.reduce((sum, share) => sum + share, 0)]
    }, spread)
    .toEqual([true, some.length])
  return of(nodes.at(-1) as Started)[0] ?? ""
}

const resources = () => process.getActiveResourcesInfo().filter((name) => /Timeout|TCP/u.test(name)).length

const connections = (database: string) =>
  queries(server.url, [`SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = '${database}'`])

/** A reply that asks for a payment, one that hangs, and those after the move. */
const scripts = [
  [{ toolCall: { id: "t1", name: "pay", arguments: {} } }, { finish: "tool_calls" as const }],
  [{ text: "Paid, " }, { hang: true as const }],
  [{ text: "Paid once." }, { finish: "stop" as const }],
  [{ text: "Later." }, { finish: "stop" as const }]
]

describe("Cluster.start on PostgreSQL", { timeout: 120_000 }, () => {
  test("CLUSTER2, CLUSTER3, CLUSTER5, CLUSTER8, CLUSTER15: the home stops in the middle of a turn, and the other goes on", async () => {
    const before = resources()
    const paid: Array<string> = []
    const pay = tool({
      name: "pay",
      effect: "write",
      parameters: z.object({}),
      execute: () => {
        paid.push("paid")
        return "ok"
      }
    })
    const { node, schema, errors } = await cluster({ adapter: Fake.make({ scripts }), tools: [pay] })
    const [a, gateway] = [await node(), await node("gateway")]
    const b = await node()
    const id = await placedAt(a, b)
    const chat = await gateway.troupe.chat(id)
    expect([a, b, gateway].map(({ troupe }) => troupe.isAlive(id))).toEqual([false, true, false])
    const turn = chat.send("Pay", { id: "m1" })
    expect(await turn.receipt).toEqual({ status: "delivered" })
    for await (const event of turn) if (event.type === "text_delta") break
    const waiting = chat.send("And then?", { id: "m2" })
    expect(await waiting.receipt).toEqual({ status: "pending" })
    await b.stop()
    expect((await turn.result()).finalResponse?.outputText).toBe("Paid once.")
    expect((await waiting.result()).finalResponse?.outputText).toBe("Later.")
    expect(a.troupe.isAlive(id)).toBe(true)
    const { messages } = await chat.view()
    expect(messages.map(({ role, content }) => (role === "tool" ? role : content))).toEqual([
      "Pay",
      "",
      "tool",
      "Paid once.",
      "And then?",
      "Later."
    ])
    expect(paid).toEqual(["paid"])
    const log = await a.troupe.history(id)
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1))
    await gateway.stop()
    await a.stop()
    expect(errors).toEqual([])
    await expect.poll(() => connections(schema), spread).toEqual([{ count: 0 }])
    await until(() => resources() <= before)
  })

  test("with TLS between the nodes a gateway answers over HTTP for each home", async () => {
    const { node } = await cluster({}, { tls: certificates })
    const [a, gateway] = [await node(), await node("gateway")]
    const b = await node()
    await placedAt(a, b)
    const [web] = [gateway, a, b].map(({ troupe }) => Server.make({ troupe, authorize: () => ({ owner: "anna" }) }))
    const { url, close } = await listen(web as Server.Server, { graceMs: 500 })
    onTestFinished(close)
    for (const { troupe } of [a, b]) {
      const id = some.find((one) => troupe.isHome(one)) ?? ""
      const answer = await post(`${url}/chats/${id.slice("anna/".length)}/messages?wait`, { input: "Hello" })
      expect([answer.status, troupe.isAlive(id), gateway.troupe.isAlive(id)]).toEqual([200, true, false])
    }
    // A node that speaks no TLS is no node.
    await expect(fetch(`http://${a.troupe.bound}/`)).rejects.toThrow("fetch failed")
  })
})
