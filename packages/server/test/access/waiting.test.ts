import { Fake, tool } from "@troupe/chat"
import { describe, expect, onTestFinished, test } from "vitest"
import type { ServerOptions } from "../../src/server/serverOptions.ts"
import { codeOf, served, turn, until } from "../double/served.ts"

const post = (path: string, body: unknown, signal?: AbortSignal) =>
  new Request(`http://localhost${path}`, {
    method: "POST",
    headers: { authorization: "anna", "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal })
  })

/** A server whose conversation `c1` runs a tool until `finish` is called, so that what comes meanwhile waits. */
const busy = async (limits: ServerOptions["limits"] = {}) => {
  const { promise, resolve: finish } = Promise.withResolvers<void>()
  const hold = tool({ name: "hold", execute: () => promise.then(() => "held") })
  const says: Fake.Script = [{ text: "Hello" }, { finish: "stop" }]
  const calls: Fake.Script = [{ toolCall: { id: "c0", name: "hold" } }, { finish: "tool_calls" }]
  const adapter = Fake.make({ scripts: [calls, ...Array.from({ length: 9 }, () => says)] })
  const { ask, server, troupe } = await served({ adapter, tools: [hold] }, { limits })
  onTestFinished(() => finish())
  const chat = await troupe.chat("anna/c1")
  const running = chat.send("Hi")
  await until(() => chat.getSnapshot()?.context.phase === "runningTools")
  const waiting = () => chat.getSnapshot()?.context.inbox.length ?? 0
  return { ask, server, chat, running, finish, waiting }
}

/** Turns of the event loop, in which a request reaches its chat. */
const reached = async (): Promise<void> => {
  for (let times = 0; times < 20; times++) await turn()
}

const deny = (reason = "no") => ["/chats/c1/approvals/c0", { type: "deny", reason }] as const

const retry = ["/chats/c1/retry", {}] as const

describe("OWNER4", () => {
  test("decisions, retries and messages that wait count together against the number of their owner, in whichever conversation", async () => {
    const { ask, chat, finish, running } = await busy({ waiting: 3 })
    const waits = [ask("POST", ...deny()), ask("POST", ...retry)]
    await reached()
    expect((await ask("POST", "/chats/c1/messages", { input: "And?", id: "u2" })).status).toBe(202)
    for (const path of ["/chats/c1/messages", "/chats/c2/messages"]) {
      const refused = await ask("POST", path, { input: "More" })
      expect(refused.headers.get("retry-after")).toBe("1")
      expect(await codeOf(refused)).toBe("429 inbox_full")
    }
    expect(await codeOf(await ask("POST", ...deny()))).toBe("429 inbox_full")
    expect(await codeOf(await ask("POST", "/chats/c1/mode", { mode: "plan" }))).toBe("429 inbox_full")
    expect(await codeOf(await ask("POST", "/chats/c1/handoff", { agent: "other" }))).toBe("429 inbox_full")
    expect((await ask("POST", ...retry, { authorization: "bert" })).status).toBe(404)
    finish()
    await running.result()
    expect(await codeOf(await (waits[0] ?? Promise.reject(new Error("none"))))).toBe("409 unknown_tool_call_id")
    expect((await waits[1])?.status).toBe(202)
    await until(() => chat.getSnapshot()?.context.phase === "idle")
    expect((await ask("POST", "/chats/c1/messages?wait", { input: "More" })).status).toBe(200)
  })

  test("the bodies of what waits have a bound together, and one alone is never refused", async () => {
    const { ask, finish } = await busy({ waitingBytes: 5_000 })
    const waits = [ask("POST", ...deny("x".repeat(9_000)))]
    await reached()
    expect(await codeOf(await ask("POST", ...deny("x".repeat(5_000))))).toBe("429 inbox_full")
    finish()
    for (const one of waits) await (await one).text()
    waits.push(ask("POST", ...deny("x".repeat(9_000))))
    expect(await codeOf(await (waits[1] ?? Promise.reject(new Error("none"))))).toBe("409 unknown_tool_call_id")
  })

  test("a message that waits counts until it runs, after its request and once for each id", async () => {
    const { ask, finish, waiting } = await busy({ waitingBytes: 3_000, waiting: 3 })
    const message = (id: string, length = 2_500) => ask("POST", "/chats/c1/messages", { input: "x".repeat(length), id })
    for (let time = 0; time < 5; time++) expect((await message("u2", 1_000)).status).toBe(202)
    expect(await codeOf(await message("u3"))).toBe("429 inbox_full")
    expect((await ask("POST", "/chats/c1/withdraw", { input: "u2" })).status).toBe(200)
    expect((await message("u3")).status).toBe(202)
    expect(await codeOf(await message("u4"))).toBe("429 inbox_full")
    finish()
    await until(() => waiting() === 0)
    expect((await message("u4")).status).toBe(202)
  })
})

describe("READERS3 when its client leaves before it has begun", () => {
  const verbs = { "a decision": deny("x".repeat(9_000)), "a retry": retry } as const

  test.each(Object.entries(verbs))("%s is withdrawn, and leaves nothing", async (_, [path, body]) => {
    const { server, running, finish, chat } = await busy()
    for (const query of ["", "?wait"]) {
      const client = new AbortController()
      const response = server.fetch(post(path + query, body, client.signal))
      await reached()
      client.abort()
      expect(await codeOf(await response)).toBe("409 withdrawn")
    }
    finish()
    expect((await running.result()).finalResponse?.outputText).toBe("Hello")
    await until(() => chat.getSnapshot()?.context.phase === "idle")
    await reached()
    expect(chat.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
  })

  test("a message that was accepted stays", async () => {
    const { server, waiting, finish, chat } = await busy()
    const client = new AbortController()
    const response = server.fetch(post("/chats/c1/messages?wait", { input: "And?", id: "u2" }, client.signal))
    await until(() => waiting() === 1)
    client.abort()
    await response
    expect(waiting()).toBe(1)
    finish()
    await until(() => chat.getSnapshot()?.context.phase === "idle")
    expect(chat.thread.messages).toHaveLength(6)
  })

  test("nothing of a hundred that left is counted", async () => {
    const { server, ask, finish } = await busy({ waiting: 10 })
    for (let time = 0; time < 100; time++) {
      const client = new AbortController()
      const response = server.fetch(post(...deny("x".repeat(9_000)), client.signal))
      if (time % 2 === 0) await reached()
      client.abort()
      expect((await response).status).toBe(409)
    }
    expect((await ask("POST", "/chats/c1/messages", { input: "And?" })).status).toBe(202)
    finish()
  })
})
