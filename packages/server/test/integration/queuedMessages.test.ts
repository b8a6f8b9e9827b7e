import { askUser, Fake, tool } from "@troupe/chat"
import OpenAI from "openai"
import { describe, expect, it } from "vitest"
import { reading, until } from "../double/served.ts"
import { serving } from "../double/serving.ts"

const json = { "content-type": "application/json" }

/** A conversation whose first turn runs until `finish`, and then waits about `call`. */
const busy = async (call: "pay" | "where" | "asks") => {
  const held = Promise.withResolvers<string>()
  let isHeld = false
  let requests = 0
  const adapter = Fake.make({
    respond: () =>
      requests++ === 0
        ? [{ toolCall: { id: "c0", name: "hold" } }, { toolCall: { id: "c1", name: call } }, { finish: "tool_calls" }]
        : [{ text: "Hello" }, { finish: "stop" }]
  })
  const hold = tool({
    name: "hold",
    execute: () => {
      isHeld = true
      return held.promise
    }
  })
  const asks = tool({ name: "asks", execute: () => askUser("Which?") })
  const at = await serving({
    adapter,
    tools: [hold, tool({ name: "pay", execute: () => "paid" }), tool({ name: "where", manual: true }), asks],
    permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") }
  })
  const chat = await at.troupe.chat("anna/c")
  const first = chat.send("Hi")
  await until(() => isHeld)
  return { ...at, chat, first, finish: () => held.resolve("done") }
}

type Busy = Awaited<ReturnType<typeof busy>>

const completion = {
  model: "troupe",
  messages: [{ role: "user" as const, content: "And?" }],
  metadata: { chat_id: "c" }
}

const said = { id: "c", message: { id: "u2", role: "user", parts: [{ type: "text", text: "And?" }] } }
const run = { threadId: "c", runId: "r", messages: [{ id: "u2", role: "user", content: "And?" }] }

/** Waits until as many messages wait in the conversation. */
const waiting = ({ chat }: Busy, count: number): Promise<void> =>
  until(() => chat.getSnapshot()?.context.inbox.length === count)

const inboxOf = ({ chat }: Busy): number | undefined => chat.getSnapshot()?.context.inbox.length

describe("FOLLOWTURN5. a message that waits behind a turn, when that turn ends and waits for a person", () => {
  it.for([
    ["/api/chat", said],
    ["/ag-ui", run],
    ["/v1/chat/completions", { ...completion, stream: true }]
  ] as const)(
    "ends the stream of %s, and keeps the message, which is answered after the decision",
    async ([path, body]) => {
      const at = await busy("pay")
      const stream = reading(await at.post(path, body))
      await waiting(at, 1)
      at.finish()
      const text = await stream.rest()
      expect(text).toContain('"code":"awaiting_approval"')
      expect(text).toContain("it is answered after that, so do not send it again")
      expect(inboxOf(at)).toBe(1)
      await at.chat.approve("c1", { type: "allow" }).result()
      await until(() => at.chat.thread.messages.length === 7)
      expect(at.chat.thread.messages.at(-2)).toMatchObject({ role: "user", content: "And?" })
      expect(at.chat.thread.messages.at(-1)).toMatchObject({ role: "assistant", content: "Hello" })
    }
  )

  it("ends the stream when the turn waits for results of the client", async () => {
    const at = await busy("where")
    const stream = reading(await at.post("/api/chat", said))
    await waiting(at, 1)
    at.finish()
    expect(await stream.rest()).toContain('"code":"awaiting_tool_results"')
  })

  it("ends the stream when the turn asks a question, and the message never answers it", async () => {
    const at = await busy("asks")
    const stream = reading(await at.post("/api/chat", said))
    const headers = { ...json, accept: "text/event-stream" }
    const own = reading(await at.post("/chats/c/messages", { input: "Own" }, { headers }))
    await waiting(at, 2)
    at.finish()
    expect(await stream.rest()).toContain('"code":"awaiting_user"')
    expect(await own.until('"phase":"awaitingUser"')).toContain('"type":"snapshot"')
    expect(inboxOf(at)).toBe(2)
    await at.chat.send("blue").result()
    expect(await own.rest()).toContain("Hello")
  })

  it("ends the second reader of the same message too", async () => {
    const at = await busy("pay")
    const first = reading(await at.post("/api/chat", said))
    const second = reading(await at.post("/api/chat", said))
    await waiting(at, 1)
    at.finish()
    expect(await first.rest()).toContain('"code":"awaiting_approval"')
    expect(await second.rest()).toContain('"code":"awaiting_approval"')
  })

  it("refuses a whole completion, which the client of OpenAI does not send again", async () => {
    const at = await busy("pay")
    const client = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: "k" })
    const refused = client.chat.completions.create(completion).then(
      () => undefined,
      (error: unknown) => error
    )
    await waiting(at, 1)
    at.finish()
    expect(await refused).toMatchObject({ status: 409, code: "awaiting_approval" })
    expect(inboxOf(at)).toBe(1)
  })

  it("leaves the server's own routes as they are: they follow the message to its answer", async () => {
    const at = await busy("pay")
    const headers = { ...json, accept: "text/event-stream" }
    const ask = () => at.post("/chats/c/messages", { input: "And?", id: "u2" }, { headers })
    const stream = reading(await ask())
    await waiting(at, 1)
    const again = reading(await ask())
    at.finish()
    await at.first.result()
    expect(await stream.until('"phase":"awaitingApproval"')).toContain('"type":"snapshot"')
    await at.chat.approve("c1", { type: "allow" }).result()
    expect(await stream.rest()).toContain("Hello")
    expect(await again.rest()).toContain("Hello")
  })
})

describe("FOLLOWTURN3. AG-UI answers a question and a call of the client in one run", () => {
  const where = { toolCall: { id: "c1", name: "where" } }

  /** The events of the run with both answers, when the model says this next. */
  const answered = async (...next: ReadonlyArray<Fake.Script>) => {
    const scripts: ReadonlyArray<Fake.Script> = [
      [{ toolCall: { id: "c0", name: "asks" } }, where, { finish: "tool_calls" }],
      ...next
    ]
    const tools = [tool({ name: "asks", execute: () => askUser("Which?") }), tool({ name: "where", manual: true })]
    const at = await serving({ adapter: Fake.make({ scripts }), tools })
    await (await at.troupe.chat("anna/c")).send("Hi").result()
    const stream = await at.post("/ag-ui", {
      threadId: "c",
      runId: "r",
      messages: [{ id: "t1", role: "tool", toolCallId: "c1", content: "here" }],
      resume: [{ interruptId: "question:c0", status: "resolved", payload: "blue" }]
    })
    return reading(stream).rest()
  }

  it("ends the run when the model calls the client again before it has the answer", async () => {
    const text = await answered([{ toolCall: { id: "c2", name: "where" } }, { finish: "tool_calls" }])
    expect(text).toContain('"toolCallId":"c2"')
    expect(text.match(/"RUN_FINISHED"/g)).toHaveLength(1)
  })

  it("goes on with the reply to the answer", async () => {
    const text = await answered([{ text: "One" }, { finish: "stop" }], [{ text: "Two" }, { finish: "stop" }])
    expect(text).toContain("One")
    // The results alone begin no request: the question is open until the answer.
    expect(text).not.toContain("Two")
    expect(text.match(/"RUN_FINISHED"/g)).toHaveLength(1)
  })
})
