import { Store } from "@troupe/chat/store"
import { Clock, System } from "@troupe/otp"
import { expect, test } from "vitest"
import { endless, served } from "./double/served.ts"

const events = { accept: "text/event-stream" }

/** What each protocol says in the chat `c`. */
const asks: Readonly<
  Record<string, readonly [path: string, body: unknown, headers?: Readonly<Record<string, string>>]>
> = {
  "the own route": ["/chats/c/messages", { input: "More" }],
  "the own route, as events": ["/chats/c/messages", { input: "More" }, events],
  "the own route, to its end": ["/chats/c/messages?wait", { input: "More" }],
  "the AI SDK": [
    "/api/chat",
    {
      id: "c",
      trigger: "submit-message",
      whenBusy: "queue",
      message: { id: "u2", role: "user", parts: [{ type: "text", text: "More" }] }
    }
  ],
  "AG-UI": [
    "/ag-ui",
    {
      threadId: "c",
      runId: "r2",
      state: {},
      messages: [{ id: "u2", role: "user", content: "More" }],
      tools: [],
      context: [],
      forwardedProps: {}
    }
  ],
  "OpenAI's completions": [
    "/v1/chat/completions",
    { model: "troupe", messages: [{ role: "user", content: "More" }], metadata: { chat_id: "c" } }
  ],
  "OpenAI's completions, as events": [
    "/v1/chat/completions",
    { model: "troupe", stream: true, messages: [{ role: "user", content: "More" }], metadata: { chat_id: "c" } }
  ]
}

test.each(Object.keys(asks))("INBOX1. a full inbox is 429 inbox_full, before anything is written: %s", async (name) => {
  const { ask, troupe } = await served({ adapter: endless(), maxWaitingInputs: 1 })
  await ask("POST", "/chats/c/messages", { input: "Begin" })
  await ask("POST", "/chats/c/messages", { input: "Wait" })
  const [path, body, headers] = asks[name] ?? ["", {}]
  const before = await troupe.history("anna/c")
  const response = await ask("POST", path, body, headers)
  expect(response.status).toBe(429)
  expect(response.headers.get("retry-after")).toBe("1")
  expect(await response.json()).toMatchObject({ error: { code: "inbox_full" } })
  expect(await troupe.history("anna/c")).toEqual(before)
  const chat = await troupe.chat("anna/c")
  expect(chat.getSnapshot()?.context.inbox).toHaveLength(1)
})

test("RCPT3 when the store gives no answer, an input is 503 store_failed with a text that names the same id, and sent again it is one", async () => {
  const [clock, inner] = [Clock.test(), Store.memory()]
  const landed = Promise.withResolvers<void>()
  const waiting = Promise.withResolvers<void>()
  const accept: typeof inner.accept = async (...args) => {
    waiting.resolve()
    await landed.promise
    return inner.accept(...args)
  }
  const store = new Proxy(inner, { get: (_, name) => (name === "accept" ? accept : Reflect.get(inner, name)) })
  const { ask, troupe } = await served({ store, system: System.make({ clock }) })
  const say = () => ask("POST", "/chats/c/messages?wait", { input: "Pay", id: "m1" })
  const first = say()
  await waiting.promise
  await clock.advance(5_000)
  const refused = await first
  expect([refused.status, await refused.json()]).toMatchObject([
    503,
    { error: { code: "store_failed", message: expect.stringContaining("again under the same id") } }
  ])
  landed.resolve()
  expect((await say()).status).toBe(200)
  const { messages = [] } = (await troupe.at("anna/c", (await troupe.history("anna/c")).length))?.thread ?? {}
  expect(messages.map(({ content }) => content)).toEqual(["Pay", "Hi there"])
})
