import { Fake } from "@troupe/chat"
import { expect, test } from "vitest"
import { deaf, listening, stallMs } from "../double/deafClients.ts"
import { served, turn, until } from "../double/served.ts"

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`

test("OWNER3 many clients that ask for a large view and read nothing hold a bounded memory, and are gone after stallMs", async () => {
  const count = 10
  const view = 9_000_000
  const { server, troupe } = await served(
    { adapter: Fake.make({ script: [{ text: "x".repeat(view) }, { finish: "stop" }] }), maxReplyCharacters: 2 * view },
    { authorize: () => ({ owner: "anna" }) }
  )
  await (await troupe.chat("anna/c1")).send("Tell").result()
  const statuses: Array<number> = []
  const { node, clock, requests } = await listening(async (request) => {
    const response = await server.fetch(request)
    statuses.push(response.status)
    return response
  })
  const used = async (): Promise<number> => {
    for (let times = 0; times < 8; times++) {
      await turn()
      globalThis.gc?.()
    }
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = await used()
  await Promise.all(Array.from({ length: count }, () => deaf(node.url, get("/chats/c1"))))
  await until(() => statuses.length === count)
  expect(statuses.filter((status) => status === 200)).toHaveLength(Math.floor(67_108_864 / view))
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
  const stalled = requests.filter((_, index) => statuses[index] === 200)
  for (let turns = 0; turns < 50; turns++) await turn()
  expect((await used()) - before).toBeLessThan(100_000_000)
  await clock.advance(stallMs)
  await until(() => stalled.every(({ signal }) => signal.aborted))
  expect((await server.fetch(new Request("http://localhost/chats/c1"))).status).toBe(200)
})
