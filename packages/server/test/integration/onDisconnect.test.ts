import { HttpAgent } from "@ag-ui/client"
import { Fake } from "@troupe/chat"
import OpenAI from "openai"
import { describe, expect, it } from "vitest"
import { endless, reading, until } from "../double/served.ts"
import { serving } from "../double/serving.ts"

const said = (id: string, text = "Hi") => ({ id: "c", message: { id, role: "user", parts: [{ type: "text", text }] } })

/** A model whose first answer never ends. */
const once = () => {
  let requests = 0
  return Fake.make({
    respond: () => (requests++ === 0 ? [{ text: "Once" }, { hang: true }] : [{ text: "Two" }, { finish: "stop" }])
  })
}

const running = async (adapter: Fake.Fake, count: number): Promise<void> => until(() => adapter.open === count)

describe('onDisconnect: "cancel"', () => {
  it("READERS1. cancels a turn whose reader disconnects, on every protocol", async () => {
    const adapter = endless()
    const { url, post } = await serving({ adapter }, { onDisconnect: "cancel" })
    const leaves = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const gone = new AbortController()
      const response = await post(path, body, {
        signal: gone.signal,
        headers: { "content-type": "application/json", ...headers }
      })
      await reading(response).until("Once")
      expect(adapter.open).toBe(1)
      gone.abort()
      await running(adapter, 0)
    }
    await leaves("/api/chat", said("u1"))
    await leaves("/ag-ui", { threadId: "d", runId: "r", messages: [{ id: "u1", role: "user", content: "Hi" }] })
    await leaves("/v1/responses", { model: "troupe", input: "Hi", stream: true })
    const messages = [{ role: "user", content: "Hi" }]
    await leaves("/v1/chat/completions", { model: "troupe", stream: true, messages, metadata: { chat_id: "e" } })
    await leaves("/chats/f/messages", { input: "Hi" }, { accept: "text/event-stream" })
    const gone = new AbortController()
    const whole = post(
      "/chats/f/messages?wait",
      { input: "Hi" },
      {
        signal: gone.signal,
        headers: { "content-type": "application/json" }
      }
    ).catch(() => undefined)
    await running(adapter, 1)
    gone.abort()
    await whole
    await running(adapter, 0)
    expect((await fetch(`${url}/api/chat/c/stream`)).status).toBe(204)
  })

  it("READERS1. continues a turn that another client still reads", async () => {
    const adapter = endless()
    const { url, post } = await serving({ adapter }, { onDisconnect: "cancel" })
    const first = reading(await post("/api/chat", said("u1")))
    await first.until("Once")
    const second = reading(await fetch(`${url}/api/chat/c/stream`))
    await second.until("upon")
    await first.leave()
    expect((await fetch(`${url}/chats/c`)).status).toBe(200)
    expect(adapter.open).toBe(1)
    await second.leave()
    await running(adapter, 0)
  })

  it("READERS1. does not cancel the turn that runs before the one whose reader disconnects", async () => {
    const adapter = once()
    const { url, post, troupe } = await serving({ adapter }, { onDisconnect: "cancel" })
    const chat = await troupe.chat("anna/c")
    const before = chat.send("First")
    await running(adapter, 1)
    const gone = new AbortController()
    const waiting = await post("/api/chat", said("u1"), {
      signal: gone.signal,
      headers: { "content-type": "application/json" }
    })
    await reading(waiting).until("start")
    gone.abort()
    expect((await fetch(`${url}/chats/c`)).status).toBe(200)
    expect(before.over).toBe(false)
    expect(adapter.open).toBe(1)
    await chat.cancel()
  })
})

describe('onDisconnect: "continue"', () => {
  it("READERS2. lets the next message interrupt an answer that its client left", async () => {
    const adapter = once()
    const { post } = await serving({ adapter })
    const stopped = reading(await post("/api/chat", said("u1")))
    await stopped.until("Once")
    await stopped.leave()
    expect(adapter.open).toBe(1)
    const next = await reading(await post("/api/chat", said("u2", "One and one?"))).until("Two")
    expect(next).toContain('"finish"')
    expect(adapter.requests.length).toBe(2)
  })

  it("READERS2. queues a message while a client reads the answer", async () => {
    const adapter = once()
    const { url, post, troupe } = await serving({ adapter })
    const stopped = reading(await post("/api/chat", said("u1")))
    await stopped.until("Once")
    await stopped.leave()
    const back = reading(await fetch(`${url}/api/chat/c/stream`))
    await back.until("Once")
    const next = reading(await post("/api/chat", said("u2", "One and one?")))
    await next.until("start")
    expect(adapter.requests.length).toBe(1)
    await (await troupe.chat("anna/c")).cancel()
    await next.until("Two")
    await back.rest()
  })

  it("READERS2. holds for unmodified clients of AG-UI and of OpenAI's completions", async () => {
    const agUi = once()
    const first = await serving({ adapter: agUi })
    const agent = new HttpAgent({ url: `${first.url}/ag-ui`, threadId: "c" })
    agent.addMessage({ id: "u1", role: "user", content: "Hi" })
    await agent.runAgent({}, { onTextMessageContentEvent: () => agent.abortRun() }).catch(() => undefined)
    agent.addMessage({ id: "u2", role: "user", content: "One and one?" })
    const { newMessages } = await agent.runAgent()
    expect(newMessages.at(-1)).toMatchObject({ content: "Two" })

    const openAi = once()
    const second = await serving({ adapter: openAi })
    const client = new OpenAI({ baseURL: `${second.url}/v1`, apiKey: "k", defaultHeaders: { "x-troupe-chat": "c" } })
    const messages = [{ role: "user" as const, content: "Hi" }]
    for await (const _ of await client.chat.completions.create({ model: "troupe", messages, stream: true })) {
      if (openAi.open === 1) break
    }
    const { choices } = await client.chat.completions.create({ model: "troupe", messages })
    expect(choices[0]?.message.content).toBe("Two")
  })
})
