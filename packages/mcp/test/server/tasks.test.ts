/** Calls of agents as tasks of the protocol: the server and the client over HTTP on loopback. */
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import type { HandlerResult } from "@troupe/chat/results"
import { System } from "@troupe/otp"
import { listen } from "@troupe/server/Node"
import { expect, onTestFinished, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"

type Protocol = "older" | "newer"

/** A chat whose model calls `work`, which waits for the gate; and what the clients send. */
const served = async (protocol: Protocol, end: (text: string) => unknown = (text) => text) => {
  const gate = Promise.withResolvers<string>()
  const adapter = Fake.make({
    respond: ({ messages }) =>
      messages.every(({ role }) => role !== "tool")
        ? [{ toolCall: { id: `c${messages.length}`, name: "work" } }, { finish: "tool_calls" }]
        : [{ text: "It is done." }, { finish: "stop" }]
  })
  const work = tool({ name: "work", effect: "read", execute: () => gate.promise.then(end) })
  const troupe = await Troupe.start({ silent: true, adapter, tools: [work] })
  const service = Mcp.serve(troupe, {
    agents: { helper: { description: "Helps" } },
    taskAfterMs: 1,
    authorize: (request) => ({ owner: request.headers.get("x-owner") ?? "anna" })
  })
  const { url, close } = await listen(service, { graceMs: 0 })
  const system = System.make({ silent: true })
  onTestFinished(async () => {
    gate.resolve("late")
    await System.stop(system)
    await close()
    await troupe.stop()
  })
  const sent: Array<Record<string, unknown>> = []
  const spying: typeof fetch = async (input, init) => {
    const text = typeof init?.body === "string" ? init.body : "{}"
    sent.push(JSON.parse(text) as Record<string, unknown>)
    return fetch(input, init)
  }
  const client = (options: Mcp.McpOptions = {}, owner = "anna") =>
    Mcp.start(
      system,
      { url: `${url}/mcp`, fetch: spying, headers: { "x-owner": owner } },
      {
        protocol: protocol === "older" ? "older" : "auto",
        tool: () => ({ background: { afterMs: 5 }, timeoutMs: 60_000 }),
        ...options
      }
    )
  const methods = () => sent.map(({ method }) => method).filter((method) => String(method).startsWith("t"))
  const turn = async () => {
    const [chat] = (await troupe.list()).chats
    return chat === undefined ? undefined : (await (await troupe.chat(chat.id)).view()).phase
  }
  return { troupe, system, gate, client, methods, turn, sent, adapter, url: `${url}/mcp` }
}

const asks = { older: "tasks/result", newer: "tasks/get" } as const

const textOf = (result: HandlerResult): unknown => ("value" in result ? result.value : result)

test.each(["older", "newer"] as const)(
  "MCPTASK1, CLTASK1. a call of an agent is a task for a client of the %s protocol, and its result is that of the call",
  async (protocol) => {
    const { gate, client, methods } = await served(protocol)
    const mcp = await client()
    const running = call(mcp, "helper", { message: "Work" })
    await expect.poll(methods).toContain(asks[protocol])
    gate.resolve("worked")
    expect(textOf(await running)).toMatchObject({ text: "It is done.", conversation: expect.any(String) })
    expect(methods().filter((method) => method === "tools/call")).toHaveLength(1)
  }
)

test.each(["older", "newer"] as const)(
  "MCPTASK2, CLTASK1. a cancelled call cancels its task and its turn over the %s protocol",
  async (protocol) => {
    const { client, methods, turn } = await served(protocol)
    const mcp = await client()
    const stop = new AbortController()
    const running = call(mcp, "helper", { message: "Work" }, stop)
    await expect.poll(methods).toContain(asks[protocol])
    stop.abort()
    await expect(running).rejects.toThrow()
    await expect.poll(methods).toContain("tasks/cancel")
    await expect.poll(turn).toBe("idle")
  }
)

/** A task whose agent asks which day, and the answers of the client. */
const asking = async (protocol: Protocol, elicit: Mcp.McpOptions["elicit"]) => {
  const { gate, client, methods, turn, troupe } = await served(protocol, () => askUser("Which day?"))
  const stop = new AbortController()
  const running = call(await client({ elicit }), "helper", { message: "Work" }, stop)
  await expect.poll(methods).toContain(asks[protocol])
  gate.resolve("")
  return { running, methods, turn, troupe, stop }
}

test.each([
  ["older", () => ({ action: "accept", content: { answer: "Monday" } }) as const],
  ["newer", false]
] as const)(
  "MCPTASK4. a task that asks a client of the %s protocol, or one without forms, has the question as its result",
  async (protocol, elicit) => {
    const { running } = await asking(protocol, elicit)
    expect(textOf(await running)).toMatchObject({ text: "Which day?", conversation: expect.any(String) })
  }
)

test("MCPTASK4. a task of the newer protocol that asks goes on with the answer of the client", async () => {
  const { running, methods, troupe } = await asking("newer", ({ message }) => ({
    action: "accept",
    content: { answer: `${message} Monday` }
  }))
  expect(textOf(await running)).toMatchObject({ text: "It is done." })
  expect(methods()).toContain("tasks/update")
  const [listed] = (await troupe.list()).chats
  const { thread } = await troupe.chat(listed?.id ?? "")
  expect(JSON.stringify(thread.messages)).toContain("Which day? Monday")
})

test("MCPTASK2. a cancel ends a task that asks", async () => {
  const asked = Promise.withResolvers<void>()
  const { running, methods, stop } = await asking("newer", () => {
    asked.resolve()
    return new Promise(() => {})
  })
  await asked.promise
  stop.abort()
  await expect(running).rejects.toThrow()
  await expect.poll(methods).toContain("tasks/cancel")
})

test.each(["older", "newer"] as const)(
  "CLTASK1. a task of the protocol is a background task of the chat, over the %s protocol",
  async (protocol) => {
    const { gate, client, system } = await served(protocol)
    const mcp = await client({ tool: () => ({ background: true }) })
    const adapter = Fake.make({
      scripts: [
        [{ toolCall: { id: "c1", name: "helper", arguments: { message: "Work" } } }, { finish: "tool_calls" }],
        [{ text: "I have started." }, { finish: "stop" }],
        [{ text: "They are done." }, { finish: "stop" }]
      ]
    })
    const troupe = await Troupe.start({ system, adapter, tools: mcp.tools })
    const chat = await troupe.chat("a")
    expect((await chat.send("Go").result()).finalResponse?.outputText).toBe("I have started.")
    const [task] = await chat.tasks()
    expect(task).toMatchObject({ status: "running", tool: "helper" })
    gate.resolve("worked")
    expect(await chat.awaitTask(task?.id ?? "")).toMatchObject({
      status: "done",
      text: expect.stringContaining("It is done.") as string
    })
    await troupe.stop()
  }
)

test("MCPTASK2. a task goes on when its client has gone, and is nobody else's", async () => {
  const { gate, client, url, sent, methods } = await served("older")
  const mcp = await client({ restarts: { maxStarts: 1 } })
  const running = call(mcp, "helper", { message: "Work" })
  await expect.poll(methods).toContain("tasks/result")
  const params = sent.find(({ method }) => method === "tasks/result")?.["params"] as { readonly taskId: string }
  await mcp.stop()
  expect(await running).toMatchObject({ type: "error" })
  const post = async (owner: string, method: string, given: object, session: string | null = null) =>
    fetch(url, {
      method: "POST",
      headers: {
        "x-owner": owner,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session !== null && { "mcp-session-id": session })
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: given })
    })
  const session = async (owner: string) => {
    const about = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } }
    const response = await post(owner, "initialize", about)
    expect(await response.text()).toContain('"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}')
    const id = response.headers.get("mcp-session-id")
    return async (method: string, given: object = params) => (await post(owner, method, given, id)).text()
  }
  const [anna, ben] = [await session("anna"), await session("ben")]
  expect(await anna("tasks/get")).toContain('"status":"working"')
  expect(await anna("tasks/list", {})).toContain(params.taskId)
  expect(await ben("tasks/get")).toContain("no such task")
  expect(await ben("tasks/cancel")).toContain("no such task")
  expect(await ben("tasks/list", {})).toContain('"tasks":[]')
  gate.resolve("worked")
  expect(await anna("tasks/result")).toContain("It is done.")
  expect(await anna("tasks/get")).toContain('"status":"completed"')
  expect(await anna("tools/list", {})).toContain('"taskSupport":"optional"')
})
