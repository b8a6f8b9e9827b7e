/**
 * The conversations of a fixture: what their users say, what the model answers, and the tools.
 *
 * The model answers by the last user message, so that the same conversations can be written into any database.
 */
import { askUser, type Fake, tool } from "@troupe/chat"
import { type ContentPart, Message, type Usage } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import type { Tool } from "@troupe/chat/tools"

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** Text of many scripts, with characters that databases and JSON treat specially. */
export const unicode =
  "Grüße, 世界! 👩‍👩‍👧 e\u0301 \u200Fשלום\u200E %_\\ 'quoted' \"double\" \u2028 tab\tend \u0000 zero \uD800 half"

/** A message with every kind of part. */
export const picture: Array<ContentPart> = [
  { type: "text", text: "What is in these?" },
  { type: "image", image: { base64: pixel, mediaType: "image/png" }, detail: "low" },
  { type: "image", image: { url: "https://example.com/cat.png" } },
  { type: "file", file: { base64: "aGVsbG8=" }, mediaType: "text/plain", filename: "hello.txt" }
]

const usage: Usage.Usage = { inputTokens: 12, outputTokens: 5, totalTokens: 17, totalCost: 0.25 }

/** A reply of only this text. */
export const says = (text: string): Fake.Script => [{ text }, { usage }, { finish: "stop" }]

const calls = (...toolCalls: ReadonlyArray<{ readonly id: string; readonly name: string }>): Fake.Script => [
  ...toolCalls.map((call, index) => ({ toolCall: { ...call, arguments: { amount: 10 + index } } })),
  { usage },
  { finish: "tool_calls" }
]

/** What the model answers to each user message; every other message is answered by its own text. */
const answers: Readonly<Record<string, Fake.Script>> = {
  "Look it up": calls({ id: "call_0", name: "look" }, { id: "call_1", name: "look" }),
  "Pay the invoice": calls({ id: "call_0", name: "look" }, { id: "call_1", name: "pay" }),
  "Note it": calls({ id: "call_0", name: "note" }),
  "Pay while others wait": calls({ id: "call_0", name: "pay" }),
  "Book a table": calls({ id: "call_0", name: "book" }),
  "Wipe the disk": calls({ id: "call_0", name: "wipe" }, { id: "call_1", name: "look" }),
  "Fetch it yourself": calls({ id: "call_0", name: "fetch" }),
  "Tell me a long story": [{ text: "Once upon a time, " }, { text: "in a løng story" }, { hang: true }],
  "Keep me busy": [{ hang: true }],
  "Begin and be cancelled": [{ text: "A reply that was " }, { hang: true }],
  Fail: [{ text: "A reply that " }, { error: "server_error" }]
}

/** The model's script for a request. */
export const respond = ({ messages }: Request): Fake.Script => {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const asked = messages[at]
  const text = asked === undefined ? "nothing" : Message.text(asked)
  const script = at === messages.length - 1 ? answers[text] : undefined
  return script ?? says(`The answer to ${text}`)
}

/** The tools; `began` is called with the idempotency key of each call of `pay`, which never ends. */
export const toolsOf = (began: (key: string, call: string) => void): ReadonlyArray<Tool.Tool> => [
  tool({ name: "look", effect: "read", execute: ({ amount }) => ({ found: `${String(amount)} ☃` }) }),
  tool({
    name: "pay",
    execute: (_, { idempotencyKey, toolCall }) => {
      began(idempotencyKey, toolCall.id)
      return new Promise<string>(() => {})
    }
  }),
  tool({ name: "book", execute: () => askUser("For how many?", { choices: ["2", "4"] }) }),
  tool({ name: "note", execute: () => "noted" }),
  tool({ name: "wipe", execute: () => "wiped" }),
  tool({ name: "fetch", manual: true })
]
