import { HttpAgent } from "@ag-ui/client"
import { Fake, tool } from "@troupe/chat"
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai"
import { describe, expect, it } from "vitest"
import { codeOf, until } from "../double/served.ts"
import { serving } from "../double/serving.ts"
import { streamOf } from "../double/streamOf.ts"

const text = (id: string, said: string) => ({ id, role: "user", parts: [{ type: "text", text: said }] })

const reply = (id: string) => ({ id: `${id}.reply`, role: "assistant", parts: [{ type: "text", text: "…" }] })

const counting = () => Fake.make({ respond: (_, call) => [{ text: `${call + 1}` }, { finish: "stop" }] })

const messageOf = async (body: string): Promise<UIMessage | undefined> => {
  const chunks = body
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"))
    .map((frame) => JSON.parse(frame.slice("data: ".length)) as UIMessageChunk)
  let last: UIMessage | undefined
  for await (const next of readUIMessageStream({ stream: streamOf(chunks) })) last = next
  return last === undefined ? undefined : (JSON.parse(JSON.stringify(last)) as UIMessage)
}

const textsIn = (adapter: Fake.Fake) => adapter.requests.at(-1)?.messages.map(({ content }) => content)

describe("AISDK1. a post with a shorter history", () => {
  const conversation = async (count: number, more: Parameters<typeof serving>[1] = {}) => {
    const adapter = counting()
    const server = await serving({ adapter }, more)
    const say = async (...messages: ReadonlyArray<object>) => server.post("/api/chat", { id: "c", messages })
    const posted: Array<object> = []
    for (let at = 1; at <= count; at++) {
      posted.push(text(`u${at}`, `q${at}`))
      await (await say(...posted)).text()
      posted.push(reply(`u${at}`))
    }
    return { ...server, adapter, say }
  }

  it("and a new message goes on from the end of that history", async () => {
    const { adapter, say, troupe } = await conversation(3)
    const { length } = await troupe.history("anna/c")
    await (await say(text("u1", "q1"), reply("u1"), text("x", "other"))).text()
    expect(textsIn(adapter)).toEqual(["q1", "1", "other"])
    expect((await troupe.history("anna/c")).length).toBeGreaterThan(length)
    await (await say(text("u1", "q1"), reply("u1"), text("x", "other"), reply("x"), text("y", "on"))).text()
    expect(textsIn(adapter)).toEqual(["q1", "1", "other", "4", "on"])
  })

  it("of nothing is added, so that a second page loses nothing; with an option it replaces", async () => {
    const { adapter, say } = await conversation(2)
    await (await say(text("x", "more"))).text()
    expect(textsIn(adapter)).toEqual(["q1", "1", "q2", "2", "more"])
    const replacing = await conversation(2, { posts: { history: "replace" } })
    await (await replacing.say(text("x", "anew"))).text()
    expect(textsIn(replacing.adapter)).toEqual(["anew"])
  })

  it("whose beginning is left out loses nothing, nor does a last message alone, nor messages without ids", async () => {
    const { adapter, say, post } = await conversation(2)
    await (await say(text("u2", "q2"), reply("u2"), text("u3", "q3"))).text()
    expect(textsIn(adapter)?.length).toBe(5)
    await (await post("/api/chat", { id: "c", message: text("u4", "q4") })).text()
    expect(textsIn(adapter)?.length).toBe(7)
    const { id: _, ...nameless } = text("", "q5")
    await (await say(nameless)).text()
    expect(textsIn(adapter)?.length).toBe(9)
  })

  it("is refused to an owner that may not rewind, and while another client reads the running answer", async () => {
    const { adapter, say } = await conversation(2, { authorize: () => ({ owner: "anna", may: { rewind: false } }) })
    expect(await codeOf(await say(text("u1", "q1"), reply("u1"), text("x", "other")))).toBe("403 forbidden")
    expect(adapter.requests.length).toBe(2)
    const hanging = Fake.make({ script: [{ text: "Once" }, { hang: true }] })
    const other = await serving({ adapter: hanging })
    const running = await other.post("/api/chat", { id: "c", messages: [text("u1", "q1")] })
    await until(() => hanging.open === 1)
    const edit = { id: "c", messages: [text("u1", "anew")], messageId: "u1", whenBusy: "reject" }
    expect(await codeOf(await other.post("/api/chat", edit))).toBe("409 busy")
    expect(hanging.open).toBe(1)
    await running.body?.cancel()
  })
})

describe("HISTORY1. a long history", () => {
  it("does not end a conversation: photos of earlier messages do not count", async () => {
    const adapter = counting()
    const { post } = await serving({ adapter }, { limits: { bodyBytes: 1_048_576, requestsPerMinute: 1e6 } })
    const photo = { type: "file", mediaType: "image/png", url: `data:image/png;base64,${"iVBORw0K".repeat(100_000)}` }
    const messages: Array<object> = []
    for (const id of ["u1", "u2", "u3", "u4"]) {
      messages.push({ id, role: "user", parts: [photo, { type: "text", text: id }] })
      const response = await post("/api/chat", { id: "c", messages })
      expect(response.status).toBe(200)
      await response.text()
      messages.push(reply(id))
    }
    expect(adapter.requests.length).toBe(4)
    const agUi = await post("/ag-ui", {
      threadId: "d",
      runId: "r",
      messages: ["u1", "u2", "u3"].map((id) => ({ id, role: "user", content: "x".repeat(600_000) }))
    })
    expect(agUi.status).toBe(200)
    await agUi.text()
    const two = [photo, photo, { type: "text", text: "Look" }]
    const tooMuch = { id: "e", messages: [{ id: "u1", role: "user", parts: two }] }
    expect(await codeOf(await post("/api/chat", tooMuch))).toBe("413 body_too_large")
  })

  it("is refused when it is too long itself", async () => {
    const { post } = await serving(
      { adapter: counting() },
      { limits: { bodyBytes: 1_048_576, historyBytes: 2_000_000 } }
    )
    const messages = ["u1", "u2", "u3"].map((id) => text(id, "x".repeat(900_000)))
    expect(await codeOf(await post("/api/chat", { id: "c", messages }))).toBe("413 body_too_large")
  })
})

describe("AGUIRUN4. a run with a shorter history", () => {
  it("and a new message goes on from the end of that history", async () => {
    const adapter = counting()
    const { url } = await serving({ adapter })
    const agent = new HttpAgent({ url: `${url}/ag-ui`, threadId: "c" })
    for (const id of ["u1", "u2", "u3"]) {
      agent.addMessage({ id, role: "user", content: id })
      await agent.runAgent()
    }
    agent.setMessages(agent.messages.slice(0, 2))
    agent.addMessage({ id: "x", role: "user", content: "other" })
    await agent.runAgent()
    expect(textsIn(adapter)).toEqual(["u1", "1", "other"])
    expect(agent.messages.at(-1)).toMatchObject({ content: "4" })
  })

  it("that ends with a message whose answer was read gives another answer", async () => {
    const adapter = counting()
    const { url, troupe } = await serving({ adapter })
    const agent = new HttpAgent({ url: `${url}/ag-ui`, threadId: "c" })
    for (const id of ["u1", "u2"]) {
      agent.addMessage({ id, role: "user", content: id })
      await agent.runAgent()
    }
    agent.setMessages(agent.messages.slice(0, 3))
    await agent.runAgent()
    expect(textsIn(adapter)).toEqual(["u1", "1", "u2"])
    expect(agent.messages.map(({ content }) => content)).toEqual(["u1", "1", "u2", "3"])
    agent.setMessages(agent.messages.slice(0, 1))
    await agent.runAgent()
    expect(textsIn(adapter)).toEqual(["u1"])
    const chat = await troupe.chat("anna/c")
    expect(chat.thread.messages.map(({ content }) => content)).toEqual(["u1", "4"])
  })

  it("that ends with a message whose answer was not read gets that answer", async () => {
    const adapter = counting()
    const { url, troupe } = await serving({ adapter })
    const agent = new HttpAgent({ url: `${url}/ag-ui`, threadId: "c" })
    const chat = await troupe.chat("anna/c")
    await chat.send({ role: "user", content: "u1", metadata: { client_message_id: "u1" } }).result()
    agent.addMessage({ id: "u1", role: "user", content: "u1" })
    await agent.runAgent()
    expect(agent.messages.map(({ content }) => content)).toEqual(["u1", "1"])
    expect(adapter.requests.length).toBe(1)
  })
})

describe("ANSWERING1 decisions and results in one message", () => {
  const where = tool({ name: "where", manual: true })

  const asking = () => {
    const ran: Array<string> = []
    const adapter = Fake.make({
      scripts: [
        [
          { toolCall: { id: "w0", name: "where" } },
          { toolCall: { id: "p0", name: "pay" } },
          { toolCall: { id: "p1", name: "pay" } },
          { finish: "tool_calls" }
        ],
        [{ text: "Paid in Oslo" }, { finish: "stop" }]
      ]
    })
    const pay = tool({
      name: "pay",
      execute: () => {
        ran.push("pay")
        return "paid"
      }
    })
    return { ran, adapter, options: { adapter, tools: [where, pay], permissions: { ask: () => "suspend" as const } } }
  }

  it("are one turn by the AI SDK's route", async () => {
    const { ran, adapter, options } = asking()
    const { post, url } = await serving(options)
    const first = await messageOf(await (await post("/api/chat", { id: "c", messages: [text("u1", "Pay")] })).text())
    const answered = (decided: ReadonlyArray<string>) => ({
      ...first,
      parts: first?.parts.map((part) => {
        if (!("toolCallId" in part)) return part
        if (part.toolCallId === "w0") return { ...part, state: "output-available", output: "Oslo" }
        return decided.includes(part.toolCallId)
          ? { ...part, state: "approval-responded", approval: { id: part.toolCallId, approved: true } }
          : part
      })
    })
    const results = { id: "c", messages: [text("u1", "Pay"), answered([])] }
    expect(await codeOf(await post("/api/chat", results))).toBe("409 awaiting_approval")
    await (await post("/api/chat", { id: "c", messages: [text("u1", "Pay"), answered(["p0"])] })).text()
    const body = { id: "c", messages: [text("u1", "Pay"), answered(["p0", "p1"])] }
    const stream = await (await post("/api/chat", body)).text()
    expect(stream.split('"type":"finish"').length).toBe(2)
    expect(stream).toContain("Paid in Oslo")
    expect(ran).toEqual(["pay", "pay"])
    expect(adapter.requests.length).toBe(2)
    const { messages } = (await (await fetch(`${url}/api/chat/c/messages`)).json()) as {
      readonly messages: ReadonlyArray<UIMessage>
    }
    expect(messages.at(-1)?.parts.map((part) => ("state" in part ? part.state : part.type))).toEqual([
      "step-start",
      "output-available",
      "output-available",
      "output-available",
      "step-start",
      "done"
    ])
  })

  it("FOLLOWTURN3 and a message behind them are one turn, whose reply has none of the calls before", async () => {
    const { ran, adapter, options } = asking()
    const { post, troupe } = await serving(options)
    const first = await messageOf(await (await post("/api/chat", { id: "c", messages: [text("u1", "Pay")] })).text())
    const parts = first?.parts.map((part) => {
      if (!("toolCallId" in part)) return part
      if (part.toolCallId === "w0") return { ...part, state: "output-available", output: "Oslo" }
      return { ...part, state: "approval-responded", approval: { id: part.toolCallId, approved: true } }
    })
    const messages = [text("u1", "Pay"), { ...first, parts }, text("u2", "And then?")]
    const answer = await messageOf(await (await post("/api/chat", { id: "c", messages })).text())
    expect([answer?.id, answer?.parts.map(({ type }) => type)]).toEqual(["u2.reply", ["step-start", "text"]])
    expect([ran, adapter.requests.length]).toEqual([["pay", "pay"], 2])
    const thread = (await troupe.chat("anna/c")).thread.messages
    expect(thread.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "tool", "user", "assistant"])
    const again = await messageOf(await (await post("/api/chat", { id: "c", messages })).text())
    expect(again?.parts).toEqual(answer?.parts)
    expect(adapter.requests.length).toBe(2)
  })

  it("are one turn by AG-UI's route", async () => {
    const { ran, options } = asking()
    const { url } = await serving(options)
    const agent = new HttpAgent({ url: `${url}/ag-ui`, threadId: "c" })
    agent.addMessage({ id: "u1", role: "user", content: "Pay" })
    await agent.runAgent()
    agent.addMessage({ id: "r1", role: "tool", toolCallId: "w0", content: "Oslo" })
    await agent.runAgent({
      resume: ["p0", "p1"].map((id) => ({
        interruptId: `approval:${id}`,
        status: "resolved",
        payload: { approved: true }
      }))
    })
    expect(agent.messages.at(-1)).toMatchObject({ content: "Paid in Oslo" })
    expect(ran).toEqual(["pay", "pay"])
  })
})
