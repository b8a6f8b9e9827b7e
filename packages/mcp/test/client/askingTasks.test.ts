/** Tasks of the protocol that ask a person. */
import { Fake, Troupe } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { System } from "@troupe/otp"
import { expect, onTestFinished, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"
import { taskServer } from "../double/taskServer.ts"

const asking = async (late?: number) => {
  const double = await taskServer(late)
  onTestFinished(double.close)
  return double
}

/** A chat that orders at the server, on a store. */
const begin = async (server: Mcp.McpServerParams, store: Store.SessionStore, options: Mcp.McpOptions = {}) => {
  const system = System.make({ silent: true })
  const mcp = await Mcp.start(system, server, { name: "shop", ...options })
  const adapter = Fake.make({
    respond: ({ messages }) =>
      messages.at(-1)?.role === "user"
        ? [{ toolCall: { id: "c1", name: "order" } }, { finish: "tool_calls" }]
        : [{ text: "Ordered." }, { finish: "stop" }]
  })
  const troupe = await Troupe.start({ system, adapter, tools: mcp.tools, store })
  const end = async (): Promise<void> => {
    await troupe.stop()
    await System.stop(system)
  }
  onTestFinished(end)
  return { mcp, troupe, chat: await troupe.chat("anna"), end }
}

const three = { type: "result", value: { count: 3 } } as const
const accepted = { how: { action: "accept", content: { count: 3 } } }

test.each([false, true])(
  "CLTASK2. a task that asks is a wait of its call, whose answer goes on with the task; after a restart: %s",
  async (isRestarted) => {
    const { server, seen, updates } = await asking(2)
    const store = Store.memory()
    const first = await begin(server, store)
    expect((await first.chat.send("Order").result()).pendingApprovals).toMatchObject([
      { kind: "question", reason: "How many?", options: { server: "shop" } }
    ])
    if (isRestarted) await first.end()
    const { troupe, chat } = isRestarted ? await begin(server, store) : first
    const [wait] = (await troupe.waiting()).waits
    const done = await chat.approve(wait?.toolCallId ?? "", three).result()
    expect(done.finalResponse?.outputText).toBe("Ordered.")
    expect(done.thread.messages.find(({ role }) => role === "tool")?.content).toBe("sold")
    expect(seen).toEqual(["call", "update t1"])
    expect(updates).toEqual([accepted])
  }
)

test("CLTASK2. a background task of a chat waits for the person that its task asks", async () => {
  const { server, updates } = await asking()
  const { troupe, chat } = await begin(server, Store.memory(), { tool: () => ({ background: true }) })
  await chat.send("Order").result()
  const [task] = await chat.tasks()
  await expect.poll(async () => (await troupe.waiting()).waits).toMatchObject([{ text: "How many?" }])
  const [wait] = (await troupe.waiting()).waits
  await chat.approve(wait?.toolCallId ?? "", three).result()
  expect(await chat.awaitTask(task?.id ?? "")).toMatchObject({ status: "done", text: expect.stringContaining("sold") })
  expect(updates).toEqual([accepted])
})

test("CLTASK1. a task that waits is cancelled at its server when its turn is cancelled", async () => {
  const { server, seen } = await asking()
  const { chat } = await begin(server, Store.memory())
  await chat.send("Order").result()
  await chat.cancel()
  await expect.poll(() => seen).toEqual(["call", "cancel t1"])
})

test("CLTASK2. the program answers a task, or cancels the question of a call that cannot wait", async () => {
  const [answered, alone] = [await asking(), await asking()]
  const system = System.make({ silent: true })
  onTestFinished(() => System.stop(system))
  const elicit = () => ({ action: "accept", content: { count: 3 } }) as const
  await call(await Mcp.start(system, answered.server, { elicit }), "order")
  await call(await Mcp.start(system, alone.server), "order")
  expect([answered.updates, alone.updates]).toEqual([[accepted], [{ how: { action: "cancel" } }]])
})
