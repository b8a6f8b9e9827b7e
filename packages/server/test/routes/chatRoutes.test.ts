import { Fake } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { expect, test } from "vitest"
import { handModel } from "../double/handModel.ts"
import { until } from "../double/linked.ts"
import { codeOf, endless, framesIn, served } from "../double/served.ts"

const inner = "anna/c1"
const events = { accept: "text/event-stream" }

const lastOf = async (response: Response): Promise<unknown> => framesIn(await response.text()).at(-1)?.json

test("when a chat leaves, the last frame of its streams is the refusal `moved`, after which they may be opened again", async () => {
  const { ask, troupe } = await served({ adapter: endless() })
  const turn = await ask("POST", "/chats/c1/messages", { input: "Tell" }, events)
  const following = await ask("GET", "/chats/c1/events?cursor=turn")
  const chat = await troupe.chat(inner)
  await until(() => chat.getSnapshot()?.context.partial.text === "Once upon")
  await chat.leave()
  for (const response of [turn, following]) {
    const text = await response.text()
    expect(text).toContain("Once")
    expect(framesIn(text).at(-1)?.json).toMatchObject({
      type: "failed",
      error: { code: "moved", retryAfterMs: 1_000 }
    })
  }
  const again = await ask("GET", "/chats/c1")
  expect(await again.json()).toMatchObject({ phase: "interrupted", partial: { text: "Once upon" } })
})

test("a request that waits for the result of a chat that leaves is refused with 503 `moved`", async () => {
  const { ask, troupe } = await served({ adapter: endless() })
  const asked = ask("POST", "/chats/c1/messages?wait", { input: "Tell" })
  const chat = await troupe.chat(inner)
  await until(() => chat.getSnapshot()?.context.partial.text === "Once upon")
  await chat.leave()
  expect(await codeOf(await asked)).toBe("503 moved")
})

test("a conversation that a full server would have to load is refused with 503 `overloaded`, to be asked again later", async () => {
  const { ask, troupe } = await served({ adapter: endless(), maxLiveChats: 1 })
  await (await troupe.begin([], { id: "anna/c2" })).stop()
  const chat = await troupe.chat(inner)
  chat.send("Tell")
  await until(() => chat.getSnapshot()?.context.partial.text === "Once upon")
  for (const response of [
    await ask("POST", "/chats/c2/messages", { input: "Tell" }),
    await ask("GET", "/chats/c2/events")
  ]) {
    expect(response.headers.get("retry-after")).toBe("1")
    expect(await codeOf(response)).toBe("503 overloaded")
  }
  expect(troupe.isAlive("anna/c2")).toBe(false)
  await chat.stop()
})

test("FOLLOWTURN1 a message of an earlier start, said again, is one turn for both senders", async () => {
  let replies = 0
  const adapter = Fake.make({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      if (replies++ === 0) return [{ text: "par" }, { hang: true }]
      return [{ text: `re ${last === undefined ? "" : Message.text(last)}` }, { finish: "stop" }]
    }
  })
  const { ask, troupe } = await served({ adapter })
  const say = (path: string) => ask("POST", path, { input: "more", id: "m2" }, events)
  await ask("POST", "/chats/c1/messages", { input: "go", id: "m1" })
  const chat = await troupe.chat(inner)
  await until(() => adapter.open === 1)
  expect(await (await ask("POST", "/chats/c1/messages", { input: "more", id: "m2" })).json()).toEqual({
    id: "m2",
    status: "pending"
  })
  await chat.leave()
  const both = await Promise.all([say("/chats/c1/messages"), say("/chats/c1/messages")])
  for (const response of both) {
    expect(response.status).toBe(200)
    expect(await lastOf(response)).toMatchObject({ type: "chat_completed", result: { haltedReason: "completed" } })
  }
  const again = await troupe.chat(inner)
  expect(again.thread.messages.map(Message.text)).toEqual(["go", "par", "more", "re more"])
})

test.each(["reads", "has left"])(
  "FOLLOWTURN1 a message whose turn its program %s, said again, gets the end of the turn",
  async (by) => {
    const model = handModel()
    const { ask, troupe } = await served({ adapter: model.adapter })
    const chat = await troupe.chat(inner)
    const turn = chat.send("go", { id: "m1" })
    const own: Array<string> = []
    const reading = (async () => {
      if (by === "has left") await turn.return()
      for await (const { type } of turn) own.push(type)
    })()
    await model.whenOpened(1)
    const stream = await ask("POST", "/chats/c1/messages", { input: "go", id: "m1" }, events)
    const last = lastOf(stream)
    model.finish("stop", "Once")
    expect(await last).toMatchObject({ type: "chat_completed", result: { haltedReason: "completed" } })
    await reading
    expect(own.at(-1)).toBe(by === "reads" ? "chat_completed" : undefined)
  }
)

test("REF9 `POST /cancel` with `turn` ends that turn, and never the next one", async () => {
  const { ask, troupe } = await served({ adapter: endless() })
  const chat = await troupe.chat(inner)
  const first = chat.send("Tell", { id: "first" })
  const second = chat.send("And?", { id: "second" })
  await until(() => chat.getSnapshot()?.context.partial.text === "Once upon")
  expect(await codeOf(await ask("POST", "/chats/c1/cancel", { turn: "other" }))).toBe("404 unknown_input")
  expect(first.over).toBe(false)
  expect((await ask("POST", "/chats/c1/cancel", { turn: "first" })).status).toBe(200)
  expect((await first.result()).haltedReason).toBe("cancelled")
  expect((await ask("POST", "/chats/c1/cancel", { turn: "first" })).status).toBe(200)
  expect(second.over).toBe(false)
  expect(await codeOf(await ask("POST", "/chats/c1/cancel", { turn: 1 }))).toBe("422 invalid_input")
  await chat.stop()
})

test("a slow reader of the events gets a snapshot in place of more than `maxUnread` of them", async () => {
  const { ask, troupe } = await served({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
  const chat = await troupe.chat(inner)
  await chat.send("one").result()
  const stream = await ask("GET", "/chats/c1/events?cursor=turn&whenSlow=snapshot&maxUnread=1")
  await chat.send("two").result()
  await chat.stop()
  const types = framesIn(await stream.text()).map(({ json }) => (json as { readonly type: string }).type)
  expect(types).toContain("snapshot")
  expect(types).not.toContain("text_delta")
  expect(await codeOf(await ask("GET", "/chats/c1/events?whenSlow=never"))).toBe("422 invalid_input")
})
