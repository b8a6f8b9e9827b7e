/** The background tasks of a chat whose home is another node. */
import { Fake, tool } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import type { Tool } from "@troupe/chat/tools"
import { Clock } from "@troupe/otp"
import { describe, expect, it } from "vitest"
import { TestCluster } from "../../src/testing/TestPlacement.ts"
import { nodes, until } from "../double/clusterNodes.ts"

const leaseMs = 5_000

/** Calls `crawl` for "Go", and repeats anything else. */
const adapter = () =>
  Fake.make({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      const said = last === undefined ? "" : Message.text(last)
      return last?.role === "user" && said === "Go"
        ? [{ toolCall: { id: "c1", name: "crawl", arguments: {} } }, { finish: "tool_calls" }]
        : [{ text: `read ${said}` }, { finish: "stop" }]
    }
  })

/** Three nodes. The chat is at `home`, its reference at `c`, and its task runs until the test ends a run. */
const crawling = async (options: Partial<Parameters<typeof tool>[0]> = {}) => {
  const runs: Array<Tool.ToolContext & { readonly end: (text: string) => void }> = []
  const crawl = () =>
    tool({
      name: "crawl",
      background: true,
      ...options,
      execute: (_, context) =>
        new Promise<string>((resolve, reject) => {
          runs.push({ ...context, end: resolve })
          context.signal.addEventListener("abort", () => reject(context.signal.reason as Error))
        })
    })
  const clock = Clock.test()
  const cluster = new TestCluster({ clock, leaseMs })
  const { node } = nodes(adapter())
  const joined = async () => {
    const placement = (address: string) => cluster.node(address)
    const { troupe } = await node({ troupe: { tools: [crawl()] }, cluster: { leaseMs, placement } })
    await clock.advance(1_000)
    return troupe
  }
  const home = await joined()
  await until(() => home.isHome("c"))
  const [b, c] = [await joined(), await joined()]
  /** Moves the chat to `b`. */
  const move = async () => {
    cluster.move(Store.bucketOf("c"), b.address)
    await until(async () => {
      await clock.advance(100)
      return b.isHome("c")
    })
  }
  const chat = await c.chat("c")
  await chat.send("Go").result()
  await until(() => runs.length === 1)
  expect([home.isAlive("c"), c.isAlive("c")]).toEqual([true, false])
  const [task] = await chat.tasks()
  return { home, b, move, chat, runs, id: task?.id ?? "" }
}

describe("a background task of a chat at another node", () => {
  it("CLREF1: is listed with its progress, and is awaited", async () => {
    const { chat, runs, id } = await crawling()
    runs[0]?.progress("7 pages")
    const [task] = await chat.tasks()
    expect(task).toMatchObject({ id, toolCallId: "c1", tool: "crawl", status: "running", progress: "7 pages" })
    const end = chat.awaitTask(id)
    runs[0]?.end("42 pages")
    expect(await end).toEqual({ status: "done", text: "42 pages" })
    await until(async () => (await chat.view()).messages.length === 6)
    expect([await chat.tasks(), await chat.awaitTask(id)]).toEqual([[], { status: "done", text: "42 pages" }])
  })

  it("CLREF1: is cancelled, and the cancel resolves when its work has ended", async () => {
    const { chat, runs, id } = await crawling()
    await chat.cancelTask(id)
    expect(runs[0]?.signal.aborted).toBe(true)
    expect(await chat.awaitTask(id)).toMatchObject({ status: "cancelled" })
  })

  it("CLREF1: that is unknown has the typed error of a local chat", async () => {
    const { chat, home, runs } = await crawling()
    const local = await home.local.chat("c")
    const refusals = [chat, local].flatMap((ref) => [ref.awaitTask("none"), ref.cancelTask("none")])
    const errors = (await Promise.allSettled(refusals)).map(
      (settled) => settled.status === "rejected" && settled.reason
    )
    expect(errors).toEqual(
      refusals.map(() =>
        expect.objectContaining({ _tag: "SessionError", reason: "unknown_task", metadata: { task: "none" } })
      )
    )
    runs[0]?.end("")
  })

  it.each([
    ["read" as const, "done", 2],
    ["write" as const, "interrupted", 1]
  ])(
    "BG4, CLUSTER8: that moves with its chat while it is awaited: its effect is %s, it ends %s",
    async (effect, status, times) => {
      const { move, b, chat, runs, id } = await crawling({ effect })
      const end = chat.awaitTask(id)
      await move()
      expect(runs[0]?.signal.aborted).toBe(true)
      await until(() => runs.length === times)
      runs[1]?.end("42 pages")
      expect((await end).status).toBe(status)
      await until(async () => (await chat.view()).messages.length === 6)
      expect([b.isAlive("c"), runs.length, new Set(runs.map(({ idempotencyKey }) => idempotencyKey)).size]).toEqual([
        true,
        times,
        1
      ])
    }
  )
})
