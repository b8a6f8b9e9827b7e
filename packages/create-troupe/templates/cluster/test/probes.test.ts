import { Server } from "@troupe/server"
import { afterEach, expect, test } from "vitest"
import { startChats } from "../src/chats.ts"
import { withProbes } from "../src/probes.ts"

const { troupe, stop } = await startChats()
afterEach(stop)

test("the probes need no authorization, and a node that closes is live and not ready", async () => {
  const server = withProbes(Server.make({ troupe, authorize: () => ({ deny: 401 }) }))
  const ask = async (path: string) => (await server.fetch(new Request(`http://localhost${path}`))).status
  expect([await ask("/live"), await ask("/ready"), await ask("/chats/c1")]).toEqual([200, 200, 401])
  await server.close()
  expect([await ask("/live"), await ask("/ready")]).toEqual([200, 503])
})
