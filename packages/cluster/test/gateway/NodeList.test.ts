import { Clock } from "@troupe/otp"
import { expect, it } from "vitest"
import { NodeList } from "../../src/gateway/NodeList.ts"

it("NODES2: a node that answers no request is `silent` after two seconds, and no list waits for it", async () => {
  const clock = Clock.test()
  const list = new NodeList({
    placement: { address: "a:1", nodes: async () => ["a:1", "b:1"], homeOf: async () => undefined },
    client: { request: () => new Promise<never>(() => {}) },
    clock,
    own: () => ({ role: "home", state: "alive", buckets: 0, epoch: 0, chats: 0 })
  })
  const stateOf = async (): Promise<string | undefined> => {
    const nodes = await clock.run(list.read())
    return nodes.find(({ node }) => node === "b:1")?.state
  }
  const states: Array<string | undefined> = []
  while (states.at(-1) !== "silent") states.push(await stateOf())
  // Each list takes 250 ms.
  expect(states).toEqual([...Array<string>(7).fill("alive"), "silent"])
  expect(clock.now()).toBe(2_000)
})
