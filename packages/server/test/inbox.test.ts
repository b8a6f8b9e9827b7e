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
