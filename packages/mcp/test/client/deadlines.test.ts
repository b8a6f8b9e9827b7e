import { InMemoryTransport } from "@modelcontextprotocol/client"
import { McpServer } from "@modelcontextprotocol/server"
import { Fake, Troupe } from "@troupe/chat"
import { runToolCalls, type Tool } from "@troupe/chat/tools"
import { Clock, System } from "@troupe/otp"
import { expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"

/** A server with one tool, which reports progress when the test says so, and ends when it is cancelled. */
const reportingServer = () => {
  const asked = Promise.withResolvers<() => Promise<void>>()
  const cancelled = Promise.withResolvers<string>()
  const transport = (): InMemoryTransport => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    const server = new McpServer({ name: "reporting", version: "1.0.0" })
    server.registerTool("work", {}, ({ mcpReq }) => {
      const params = { progressToken: mcpReq._meta?.progressToken ?? 0, progress: 1 }
      asked.resolve(() => mcpReq.notify({ method: "notifications/progress", params }))
      return new Promise((resolve) => {
        mcpReq.signal.addEventListener("abort", () => {
          cancelled.resolve("cancelled")
          resolve({ content: [] })
        })
      })
    })
    void server.connect(theirs)
    return ours
  }
  return { transport, asked: asked.promise, cancelled: cancelled.promise }
}

test("progress of the server restarts the idle deadline of the call, whose end cancels the call at the server", async () => {
  const clock = Clock.test()
  const system = System.make({ clock, silent: true })
  const { transport, asked, cancelled } = reportingServer()
  const { tools } = await Mcp.start(system, { transport }, { tool: () => ({ idleTimeoutMs: 1_000 }) })
  const reported: Array<unknown> = []
  const watched = tools.map((tool): Tool.Tool => {
    const { handler } = tool
    if (handler === null) throw new Error("a tool of a server has a handler")
    return {
      ...tool,
      handler: (args, context) =>
        handler(args, {
          ...context,
          progress: (value) => {
            reported.push(value)
            context.progress(value)
          }
        })
    }
  })
  const result = runToolCalls([{ id: "c1", name: "work", arguments: {} }], watched, { system })
  const report = await asked
  for (const count of [1, 2, 3]) {
    await clock.advance(900)
    await report()
    await expect.poll(() => reported.length).toBe(count)
  }
  await clock.advance(1_000)
  expect((await result).messages).toMatchObject([{ outcome: "timed_out" }])
  expect(await cancelled).toBe("cancelled")
  await System.stop(system)
})

test("CALLS1. progress of the server is the state of its call for a reader of the chat", async () => {
  const clock = Clock.test()
  const system = System.make({ clock, silent: true })
  const { transport, asked } = reportingServer()
  const { tools } = await Mcp.start(system, { transport })
  const script = [{ toolCall: { id: "c1", name: "work" } }, { finish: "tool_calls" as const }]
  const troupe = await Troupe.start({ system, adapter: Fake.make({ scripts: [script] }), tools })
  const chat = await troupe.chat("anna")
  const turn = chat.send("Work")
  const seen: Array<unknown> = []
  const reading = (async () => {
    for await (const item of chat.attach({ turn, calls: true })) if (item.type === "call") seen.push(item.call)
  })()
  const report = await asked
  await report()
  const progress = { progress: 1 }
  await expect
    .poll(async () => {
      await clock.advance(200)
      return seen
    })
    .toContainEqual({ id: "c1", status: "running", progress })
  expect(chat.getSnapshot()?.context.toolCalls).toMatchObject([{ id: "c1", progress }])
  await chat.cancel()
  await reading
  await troupe.stop()
  await System.stop(system)
})
