/** Streams of a server over streamable HTTP that break in the middle of a call. */
import {
  createMcpHandler,
  type EventStore,
  type JSONRPCMessage,
  McpServer,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import { System } from "@troupe/otp"
import { listen } from "@troupe/server/Node"
import { expect, onTestFinished, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"

/** Keeps the events of all streams. */
const keptEvents = (): EventStore => {
  const kept: Array<readonly [stream: string, message: JSONRPCMessage]> = []
  return {
    storeEvent: async (stream, message) => String(kept.push([stream, message]) - 1),
    replayEventsAfter: async (last, { send }) => {
      const [stream = ""] = kept[Number(last)] ?? []
      for (const [at, [of, message]] of kept.entries())
        if (at > Number(last) && of === stream) await send(String(at), message)
      return stream
    }
  }
}

/** A body that breaks when `cut` is called, as a connection that is reset. */
const breakable = (body: ReadableStream<Uint8Array>) => {
  const cut = Promise.withResolvers<never>()
  cut.promise.catch(() => {})
  const reader = body.getReader()
  const broken = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { value, done } = await Promise.race([reader.read(), cut.promise])
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason)
  })
  return { broken, cut: () => cut.reject(new Error("reset")) }
}

/** A server whose tool reports progress, and ends when the test says so. */
const server = async (kind: "resuming" | "older" | "newer") => {
  const begun = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  let calls = 0
  const shop = (): McpServer => {
    const made = new McpServer({ name: "shop", version: "1.0.0" })
    made.registerTool("order", {}, async ({ mcpReq }) => {
      calls += 1
      const params = { progressToken: mcpReq._meta?.progressToken ?? 0, progress: 1 }
      await mcpReq.notify({ method: "notifications/progress", params })
      begun.resolve()
      await end.promise
      return { content: [{ type: "text", text: "sold" }] }
    })
    return made
  }
  const inSession = async () => {
    const eventStore = kind === "resuming" ? { eventStore: keptEvents(), retryInterval: 10 } : {}
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => "s", ...eventStore })
    await shop().connect(transport)
    return { fetch: (request: Request) => transport.handleRequest(request), close: () => transport.close() }
  }
  const handler = kind === "newer" ? createMcpHandler(shop, { legacy: "reject" }) : await inSession()
  const resumed: Array<string | null> = []
  let cut = (): void => {}
  const fetch = async (request: Request): Promise<Response> => {
    const last = request.headers.get("last-event-id")
    if (last !== null) resumed.push(last)
    const isCall = request.method === "POST" && (await request.clone().text()).includes('"tools/call"')
    const response = await handler.fetch(request)
    if (!isCall || response.body === null) return response
    const { broken, cut: cutThis } = breakable(response.body)
    cut = cutThis
    return new Response(broken, response)
  }
  const { url, close } = await listen({ fetch, close: () => handler.close(), hosts: undefined }, { graceMs: 0 })
  const system = System.make({ silent: true })
  onTestFinished(async () => {
    end.resolve()
    await System.stop(system)
    await close()
  })
  const mcp = await Mcp.start(system, { url }, { restarts: { firstDelayMs: 1 } })
  return { mcp, begun: begun.promise, end: () => end.resolve(), cut: () => cut(), close, resumed, calls: () => calls }
}

test("MCPC5. a stream that breaks in the middle of a call is resumed behind its last event, and the call has its result once", async () => {
  const { mcp, begun, end, cut, resumed, calls } = await server("resuming")
  const reported = Promise.withResolvers<unknown>()
  const result = call(mcp, "order", {}, { progress: reported.resolve })
  await begun
  await reported.promise
  cut()
  await expect.poll(() => resumed.length).toBe(1)
  end()
  expect(await result).toEqual({ type: "ok", value: "sold" })
  expect(calls()).toBe(1)
  expect(mcp.health.status).toBe("connected")
})

test.each([
  ["before", "older"],
  ["after", "older"],
  ["after", "newer"]
] as const)(
  "MCPT4. the outcome of a call is unknown when its connection breaks %s the first event, and the server of the %s protocol cannot resume it",
  async (when, protocol) => {
    const { mcp, begun, cut, calls } = await server(protocol)
    const reported = Promise.withResolvers<unknown>()
    const result = call(mcp, "order", {}, { progress: reported.resolve })
    await begun
    if (when === "after") await reported.promise
    cut()
    expect(await result).toMatchObject({ type: "error", reason: { reason: "outcome_unknown" } })
    expect(calls()).toBe(1)
  }
)

test("MCPT4. the outcome of a call is unknown when its stream breaks and the server is gone", async () => {
  const { mcp, begun, cut, close } = await server("resuming")
  const result = call(mcp, "order")
  await begun
  cut()
  await close()
  expect(await result).toMatchObject({ type: "error", reason: { reason: "outcome_unknown" } })
})

test("MCPT4. a call that does not reach its server fails, and its outcome is known", async () => {
  const { mcp, close } = await server("newer")
  await close()
  expect(await call(mcp, "order")).toMatchObject({
    type: "error",
    reason: expect.stringContaining("is not connected") as string
  })
})

test("MCPT4. the outcome of a call is unknown when the stream of the older HTTP and SSE breaks, and the server is connected again", async () => {
  const streams: Array<ReadableStreamDefaultController<Uint8Array>> = []
  const say = (event: string, data: string): void =>
    streams.at(-1)?.enqueue(new TextEncoder().encode(`event: ${event}\ndata: ${data}\n\n`))
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2024-11-05",
      capabilities: { tools: {} },
      serverInfo: { name: "shop", version: "1.0.0" }
    },
    "tools/list": { tools: [{ name: "order", inputSchema: { type: "object" } }] }
  }
  const called = Promise.withResolvers<void>()
  const fetch = async (request: Request): Promise<Response> => {
    if (request.method === "GET") {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void streams.push(controller) })
      say("endpoint", "/messages")
      return new Response(body, { headers: { "content-type": "text/event-stream" } })
    }
    if (!request.url.endsWith("/messages")) return new Response("no", { status: 405 })
    const { id, method } = (await request.json()) as { readonly id?: number; readonly method: string }
    const result = results[method]
    if (result !== undefined) say("message", JSON.stringify({ jsonrpc: "2.0", id, result }))
    if (method === "tools/call") called.resolve()
    return new Response(null, { status: 202 })
  }
  const { url, close } = await listen({ fetch, close: async () => {}, hosts: undefined }, { graceMs: 0 })
  const system = System.make({ silent: true })
  onTestFinished(async () => {
    await System.stop(system)
    await close()
  })
  const mcp = await Mcp.start(system, { url: `${url}/sse` }, { restarts: { firstDelayMs: 1 } })
  const result = call(mcp, "order")
  await called.promise
  streams.at(-1)?.error(new Error("reset"))
  expect(await result).toMatchObject({ type: "error", reason: { reason: "outcome_unknown" } })
  await expect.poll(() => mcp.health).toMatchObject({ status: "connected", failedStarts: 1 })
})
