import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { askUser, Fake, ok, tool, Troupe, type RunningTroupe, type TroupeOptions } from "@troupe/chat"
import { Tool } from "@troupe/chat/tools"
import { System } from "@troupe/otp"
import { listen, type Listening } from "@troupe/server/Node"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import * as z from "zod"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"

let system: System.System
const ends: Array<() => Promise<unknown>> = []

beforeEach(() => {
  system = System.make({ silent: true })
})
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
  await System.stop(system)
})

/** Serves a Troupe on a port; the header `x-owner` names the owner. */
const served = async (
  options: Partial<TroupeOptions>,
  serving: Mcp.McpServeOptions = {},
  may: Mcp.McpCaller["may"] = {}
): Promise<{ readonly troupe: RunningTroupe; readonly url: string; readonly listening: Listening }> => {
  const troupe = await Troupe.start({ silent: true, ...options })
  const authorize = (request: Request): Mcp.McpCaller | Mcp.McpDenied => {
    const owner = request.headers.get("x-owner")
    return owner === null ? { deny: 401 } : { owner, may }
  }
  const service = Mcp.serve(troupe, { agents: { helper: { description: "Helps" } }, authorize, ...serving })
  const listening = await listen(service, { graceMs: 0 })
  ends.push(() => troupe.stop(), listening.close)
  return { troupe, url: `${listening.url}/mcp`, listening }
}

/** A server without the newer protocol does not know its first request. */
const fetchOld: typeof fetch = async (input, init) => {
  if (typeof init?.body === "string" && init.body.includes("server/discover"))
    return Response.json({ jsonrpc: "2.0", id: 0, error: { code: -32_601, message: "unknown" } }, { status: 400 })
  return fetch(input, init)
}

/** A client of the older protocol keeps a session; one of the newer has none. */
const client = (protocol: string, url: string, options: Mcp.McpOptions = {}, owner = "anna") => {
  const headers = { "x-owner": owner }
  if (protocol === "newer") return Mcp.start(system, { url, headers }, options)
  return Mcp.start(system, { url, headers, fetch: fetchOld }, options)
}

const asks = tool({ name: "book", parameters: z.object({}), execute: () => askUser("Which day?") })
const pays = tool({ name: "pay", parameters: z.object({}), execute: () => "paid" })
const calling = (name: string, args = {}) =>
  Fake.make({
    scripts: [
      [{ toolCall: { id: "c1", name, arguments: args } }, { finish: "tool_calls" }],
      [{ text: "Done." }, { finish: "stop" }]
    ]
  })

const answering =
  (answer: string): Mcp.Elicit =>
  () => ({ action: "accept", content: { answer } })

describe.each(["older", "newer"])("a client of the %s protocol", (protocol) => {
  test("MCPA2. talks to an agent, continues the conversation, and reaches no conversation of another owner", async () => {
    const adapter = Fake.make({
      scripts: [
        [{ text: "Hi." }, { finish: "stop" }],
        [{ text: "Again." }, { finish: "stop" }]
      ]
    })
    const { troupe, url } = await served({ adapter })
    const mcp = await client(protocol, url)
    const first = await call(mcp, "helper", { message: "Hello" })
    expect(first).toMatchObject({ type: "ok", value: { text: "Hi." } })
    const { conversation } = (first as { value: { conversation: string } }).value
    expect(await troupe.has(`anna/${conversation}`)).toBe(true)
    const other = await client(protocol, url, {}, "ben")
    expect(await call(other, "helper", { message: "Hello", conversation })).toMatchObject({
      type: "error",
      reason: expect.stringContaining("no such conversation") as string
    })
    expect(await call(mcp, "helper", { message: "More", conversation })).toMatchObject({ value: { text: "Again." } })
    expect((await (await troupe.chat(`anna/${conversation}`)).view()).messages).toHaveLength(4)
  })

  test("answers the question of an agent, and gets its progress", async () => {
    const { url } = await served({ adapter: calling("book"), tools: [asks] })
    const questions: Array<string> = []
    const reported: Array<unknown> = []
    const mcp = await client(protocol, url, {
      elicit: (question) => {
        questions.push(question.message)
        return { action: "accept", content: { answer: "Monday" } }
      }
    })
    const progress = (value: unknown): void => void reported.push(value)
    expect(await call(mcp, "helper", { message: "Book" }, { progress })).toMatchObject({ value: { text: "Done." } })
    expect(questions).toEqual(["Which day?"])
    expect(reported[0]).toMatchObject({ message: "book" })
  })

  test("ASKED1. without forms gets the question as text, and answers with its next call", async () => {
    const { url } = await served({ adapter: calling("book"), tools: [asks] })
    const mcp = await client(protocol, url, { elicit: false })
    const asked = await call(mcp, "helper", { message: "Book" })
    expect(asked).toMatchObject({ value: { text: "Which day?" } })
    const { conversation } = (asked as { value: { conversation: string } }).value
    expect(await call(mcp, "helper", { message: "Monday", conversation })).toMatchObject({ value: { text: "Done." } })
  })

  test("ELICIT2. has the question of an agent as a wait of the chat that calls it", async () => {
    const { url } = await served({ adapter: calling("book"), tools: [asks] })
    const mcp = await client(protocol, url)
    const troupe = await Troupe.start({ system, adapter: calling("helper", { message: "Book" }), tools: mcp.tools })
    const chat = await troupe.chat("c")
    expect(await chat.send("Book").result()).toMatchObject({
      haltedReason: "awaiting_approval",
      pendingApprovals: [{ kind: "question", reason: "Which day?" }]
    })
    const [wait] = chat.getSnapshot()?.context.pendingApprovals ?? []
    const answer = { type: "result" as const, value: { answer: "Monday" } }
    const done = await chat.approve(wait?.toolCall.id ?? "", answer).result()
    expect(done.thread.messages.find(({ role }) => role === "tool")).toMatchObject({
      outcome: "completed",
      content: expect.stringContaining('"text":"Done."') as string
    })
    await troupe.stop()
  })

  test("leaves the conversation waiting when the user declines", async () => {
    const { url, troupe } = await served({ adapter: calling("book"), tools: [asks] })
    const mcp = await client(protocol, url, { elicit: () => ({ action: "decline" }) })
    const declined = await call(mcp, "helper", { message: "Book" })
    expect(declined).toMatchObject({ type: "error", reason: expect.stringContaining("waits") as string })
    const [chat] = (await troupe.list()).chats
    expect(chat?.id).toContain("anna/")
  })

  test("MCPA3. decides about a call only if it may approve", async () => {
    const options = { adapter: calling("pay"), tools: [pays], permissions: { ask: () => "suspend" as const } }
    const one = await served(options)
    const refused = await call(await client(protocol, one.url, { elicit: answering("allow") }), "helper", {
      message: "Pay"
    })
    expect(refused).toMatchObject({ type: "error", reason: expect.stringContaining("may approve") as string })
    const two = await served({ ...options, adapter: calling("pay") }, {}, { approve: true })
    const mcp = await client(protocol, two.url, { elicit: answering("allow") })
    expect(await call(mcp, "helper", { message: "Pay" })).toMatchObject({ value: { text: "Done." } })
  })

  test("MCPA1. cancels the turn with the call", async () => {
    const adapter = Fake.make({ script: [{ text: "Once" }, { hang: true }] })
    const { troupe, url } = await served({ adapter })
    const mcp = await client(protocol, url)
    const stop = new AbortController()
    const running = call(mcp, "helper", { message: "Tell" }, stop)
    await expect.poll(() => adapter.requests.length).toBe(1)
    stop.abort()
    await expect(running).rejects.toThrow()
    await expect
      .poll(async () => {
        const [chat] = (await troupe.list()).chats
        return chat === undefined ? undefined : (await (await troupe.chat(chat.id)).view()).phase
      })
      .toBe("idle")
  })

  test("uses a plain tool: its arguments are checked, its parts, failures, progress and questions arrive", async () => {
    const parameters = z.object({ n: z.number() })
    const tools = [
      Tool.make({
        name: "draw",
        parameters,
        effect: "read",
        handler: ({ n }, { progress }) => {
          progress({ progress: 1, message: "drawing" })
          return ok([
            { type: "text", text: `n is ${String(n)}` },
            { type: "image", image: { base64: "AAAA", mediaType: "image/png" } }
          ])
        }
      }),
      asks
    ]
    const { url } = await served({ adapter: calling("book") }, { agents: {}, tools })
    const mcp = await client(protocol, url, { elicit: answering("Monday") })
    expect(mcp.tools.map(({ name, effect }) => `${name} ${effect}`)).toEqual(["draw read", "book write"])
    const reported: Array<unknown> = []
    expect(await call(mcp, "draw", { n: 3 }, { progress: (value) => reported.push(value) })).toMatchObject({
      value: [{ type: "text", text: "n is 3" }, { type: "image" }]
    })
    expect(reported).toMatchObject([{ progress: 1, message: "drawing" }])
    expect(await call(mcp, "draw", { n: "three" })).toMatchObject({ type: "error" })
    expect(await call(mcp, "book")).toMatchObject({ value: "Monday" })
  })
})

test("ASKED1. a question is answered over a restart of the server by a client of the newer protocol", async () => {
  const before = await served({ adapter: calling("book"), tools: [asks] })
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Mcp.ElicitationAnswer>()
  let url = before.url
  const moving: typeof fetch = (_, init) => fetch(url, init)
  const elicit: Mcp.Elicit = () => {
    resolve()
    return answer.promise
  }
  const headers = { "x-owner": "anna" }
  const mcp = await Mcp.start(system, { url, headers, fetch: moving }, { elicit })
  const result = call(mcp, "helper", { message: "Book" })
  await asked
  await before.listening.close()
  const service = Mcp.serve(before.troupe, {
    agents: { helper: { description: "Helps" } },
    authorize: () => ({ owner: "anna" })
  })
  const after = await listen(service, { graceMs: 0 })
  ends.push(after.close)
  url = `${after.url}/mcp`
  answer.resolve({ action: "accept", content: { answer: "Monday" } })
  expect(await result).toMatchObject({ value: { text: "Done." } })
})

test("MCPS2. close ends the open calls, and the turn goes on", async () => {
  const { promise: gate, resolve } = Promise.withResolvers<void>()
  const slow = tool({ name: "pay", execute: () => gate.then(() => "paid") })
  const { troupe, url, listening } = await served({ adapter: calling("pay"), tools: [slow] })
  const mcp = await client("older", url, { restarts: { maxStarts: 1 } })
  const running = call(mcp, "helper", { message: "Pay" })
  await expect.poll(async () => (await troupe.list()).chats).toHaveLength(1)
  const [found] = (await troupe.list()).chats
  const chat = await troupe.chat(found?.id ?? "")
  await listening.close()
  resolve()
  await expect.poll(async () => (await chat.view()).messages.at(-1)?.content).toBe("Done.")
  await mcp.stop()
  expect(await running).toMatchObject({ type: "error" })
})

test("ASKED2. a forged state reaches no conversation of another owner", async () => {
  const { troupe, url } = await served({ adapter: calling("book"), tools: [asks] })
  await (await troupe.chat("ben/c1")).send("Book").result()
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "helper",
      arguments: { message: "x" },
      inputResponses: { q0: { action: "accept", content: { answer: "Monday" } } },
      requestState: JSON.stringify({ conversation: "../ben/c1", questions: ["input:"] }),
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
      }
    }
  }
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "x-owner": "anna",
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": "helper"
    },
    body: JSON.stringify(body)
  })
  expect(await response.text()).toContain("no such conversation")
})

describe("a request is refused", () => {
  const post = (url: string, headers: Record<string, string>, body: unknown = {}) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify(body)
    })
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } }
  }

  test("MCPS1. without an identity, and when authorize fails", async () => {
    const { url } = await served({ adapter: calling("book") })
    expect((await post(url, {})).status).toBe(401)
    const failing = await served({ adapter: calling("book") }, { authorize: () => Promise.reject(new Error("down")) })
    const response = await post(failing.url, {})
    expect([response.status, await response.text()]).toEqual([500, "The server failed"])
  })

  test("MCPO1, MCPO2. from a page of another origin, which may not read; a listed one may", async () => {
    const origin = "https://app.example.com"
    const { url } = await served({ adapter: calling("book") }, { origins: [origin] })
    const ours = await post(url, { "x-owner": "anna", origin }, initialize)
    expect(ours.headers.get("access-control-allow-origin")).toBe(origin)
    expect(ours.headers.get("access-control-expose-headers")).toContain("mcp-session-id")
    const asked = { origin, "access-control-request-method": "POST", "access-control-request-headers": "x-owner, a(b" }
    const preflight = await fetch(url, { method: "OPTIONS", headers: asked })
    expect([preflight.status, preflight.headers.get("access-control-allow-headers")]).toEqual([204, "x-owner"])
    const theirs = await fetch(url, { method: "OPTIONS", headers: { ...asked, origin: "https://evil.example.com" } })
    expect([theirs.status, theirs.headers.get("access-control-allow-origin")]).toEqual([403, null])
    const other = await served({ adapter: calling("book") }, { hosts: ["mcp.example.com"] })
    expect((await post(other.url, { "x-owner": "anna" }, initialize)).status).toBe(403)
    expect((await post(url, { "x-owner": "anna", origin: "https://evil.example.com" }, initialize)).status).toBe(403)
    expect((await post(url, { "x-owner": "anna", origin: "https://app.example.com" }, initialize)).status).toBe(200)
    expect((await post(url, { "x-owner": "anna", origin: new URL(url).origin }, initialize)).status).toBe(200)
  })

  test("SESSION1, SESSION2. in a session of another owner, and for more sessions than there may be", async () => {
    const { url } = await served({ adapter: calling("book") }, { maxSessions: 1 })
    const first = await post(url, { "x-owner": "anna" }, initialize)
    const id = first.headers.get("mcp-session-id") ?? ""
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" }
    expect((await post(url, { "x-owner": "anna", "mcp-session-id": id }, ping)).status).toBe(200)
    expect((await post(url, { "x-owner": "ben", "mcp-session-id": id }, ping)).status).toBe(404)
    expect((await post(url, { "x-owner": "ben" }, initialize)).status).toBe(503)
  })
})

test("SESSION3. a client that reconnects gets the events that it missed", async () => {
  const { promise: gate, resolve } = Promise.withResolvers<void>()
  const waits = Tool.make({ name: "wait", handler: () => gate.then(() => ok("later")) })
  const { url } = await served({ adapter: calling("book") }, { agents: {}, tools: [waits] })
  let cut: (() => void) | undefined
  const cutting: typeof fetch = async (input, init) => {
    const response = await fetchOld(input, init)
    if (typeof init?.body !== "string" || !init.body.includes("tools/call") || response.body === null) return response
    const body = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({ start: (at) => void (cut = () => at.error(new Error("cut"))) })
    )
    return new Response(body, response)
  }
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(url), {
      fetch: cutting,
      requestInit: { headers: { "x-owner": "anna" } },
      reconnectionOptions: {
        initialReconnectionDelay: 10,
        maxReconnectionDelay: 10,
        reconnectionDelayGrowFactor: 1,
        maxRetries: 5
      }
    })
  const older = await Mcp.start(system, { transport })
  const result = call(older, "wait")
  await expect.poll(() => cut).toBeDefined()
  cut?.()
  resolve()
  expect(await result).toMatchObject({ value: "later" })
})
