import { Clock } from "@troupe/otp"
import { expect, test } from "vitest"
import { connect } from "../../src/client/Client.ts"
import type { NodeStatus } from "../../src/link/ChatLink.ts"

const one: NodeStatus = { node: "a:1", state: "alive", role: "home", buckets: 4_096, epoch: 1, chats: 0 }

/** A client whose requests a test answers, and its nodes. */
const asking = () => {
  const clock = Clock.test()
  const asked: Array<{ readonly url: string; readonly signal: AbortSignal | null | undefined }> = []
  const answers: Array<() => Response | Promise<Response>> = []
  const { observer } = connect({
    url: "http://localhost",
    clock,
    fetch: async (url, { signal }) => {
      asked.push({ url, signal })
      const answer = answers.shift() ?? (() => new Response(null, { status: 500 }))
      return Promise.race([
        answer(),
        new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)))
      ])
    }
  })
  const nodes = observer.nodes?.("c/1")
  if (nodes === undefined) throw new Error("the link has no nodes")
  return { clock, asked, answers, nodes, observer }
}

const listed =
  (...nodes: ReadonlyArray<NodeStatus>) =>
  () =>
    Response.json({ nodes })
const never = () => new Promise<never>(() => {})

test("RNODES1, RNODES3: the nodes are requested each second while there is a subscriber, and are the same object until they change", async () => {
  const { clock, asked, answers, nodes } = asking()
  answers.push(listed(one), listed(one), listed({ ...one, state: "draining" }))
  let changes = 0
  const leave = [nodes.subscribe(() => changes++), nodes.subscribe(() => {})]
  await clock.advance(0)
  const first = nodes.getState()
  expect([first, changes]).toEqual([[one], 1])
  await clock.advance(1_000)
  expect([asked.length, nodes.getState() === first, changes]).toEqual([2, true, 1])
  expect(asked.map(({ url }) => url)).toEqual(Array.from(asked, () => "http://localhost/observer/nodes?chat=c%2F1"))
  await clock.advance(1_000)
  expect(nodes.getState()).toMatchObject([{ state: "draining" }])
  for (const left of leave) left()
  await clock.advance(60_000)
  expect(asked.length).toBe(3)
})

test("RNODES1: a request that is open when the last subscriber leaves is cut", async () => {
  const { clock, asked, answers, nodes } = asking()
  answers.push(never)
  const leave = nodes.subscribe(() => {})
  await clock.advance(0)
  leave()
  expect(asked.map(({ signal }) => signal?.aborted)).toEqual([true])
  await clock.advance(60_000)
  expect([asked.length, nodes.getError?.()]).toEqual([1, undefined])
})

test("RNODES2: a request without an answer ends after ten seconds, and the next one is made", async () => {
  const { clock, answers, nodes } = asking()
  answers.push(listed(one), never, listed(one))
  const leave = nodes.subscribe(() => {})
  await clock.advance(1_000)
  await clock.advance(10_000)
  expect([nodes.getState(), nodes.getError?.()]).toMatchObject([[one], { _tag: "ConnectionError" }])
  await clock.advance(1_000)
  expect(nodes.getError?.()).toBe(undefined)
  leave()
})

test("RNODES2: without a cluster there is one request", async () => {
  const { clock, asked, answers, nodes } = asking()
  answers.push(() => Response.json({ error: { code: "not_found", message: "Nothing" } }, { status: 404 }))
  const leave = nodes.subscribe(() => {})
  await clock.advance(60_000)
  expect([asked.length, nodes.getState()]).toEqual([1, undefined])
  expect(nodes.getError?.()).toMatchObject({ code: "not_found" })
  leave()
})

test("each route of a node's observation names the node", async () => {
  const { asked, observer } = asking()
  const at = observer.node?.("10.0.0.7:7700")
  const leave = [
    at?.tree.subscribe(() => {}),
    at?.process("<0.1.0>").subscribe(() => {}),
    at?.timeline("c").subscribe(() => {})
  ]
  await expect(at?.kill("<0.1.0>")).rejects.toMatchObject({ _tag: "ConnectionError" })
  for (const left of leave) left?.()
  expect(asked.map(({ url }) => url.slice("http://localhost/observer/".length))).toEqual([
    "tree?node=10.0.0.7%3A7700",
    "processes/%3C0.1.0%3E?node=10.0.0.7%3A7700",
    "timeline/c?node=10.0.0.7%3A7700",
    "processes/%3C0.1.0%3E/kill?node=10.0.0.7%3A7700"
  ])
})
