import { dateOf } from "../double/arbitrary.ts"
import { expect, test } from "vitest"
import { isPlainMessage, messageFindings } from "../../src/model/messageFindings.ts"
import { decode, encode } from "../../src/session/Codec.ts"
import { Message } from "../../src/model/messageShapes.ts"

const call = { id: "c1", name: "look", arguments: { x: 1 } }

test.each<readonly [string, unknown]>([
  ["a user's", { role: "user", content: "hi", name: "ann", metadata: { a: 1 } }],
  ["a system's", { role: "system", content: "" }],
  ["a reply", { role: "assistant", content: "hi", metadata: { finish_reason: "stop" } }],
  [
    "a reply with calls",
    { role: "assistant", content: "", toolCalls: [call, { ...call, arguments: null, problem: "p" }] }
  ],
  [
    "a reply with parts",
    {
      role: "assistant",
      content: "hi",
      toolCalls: [call],
      parts: [
        { type: "reasoning", text: "", metadata: {} },
        { type: "text", text: "hi" },
        { type: "tool_call", toolCallId: "c1" }
      ]
    }
  ],
  ["a result", { role: "tool", content: "{}", toolCallId: "c1", outcome: "completed" }]
])("PLAINMSG1 %s message of text passes, and fits the schema", (_, message) => {
  expect(isPlainMessage(message)).toBe(true)
  expect(Message.safeParse(message).success).toBe(true)
  expect(messageFindings(message, [])).toEqual([])
})

test.each<readonly [string, unknown]>([
  ["nothing", undefined],
  ["a list", []],
  ["another role", { role: "robot", content: "hi" }],
  ["no content", { role: "user" }],
  ["content parts", { role: "user", content: [{ type: "text", text: "hi" }] }],
  ["a name that is no text", { role: "user", content: "hi", name: 1 }],
  ["metadata that is no record", { role: "user", content: "hi", metadata: "m" }],
  ["a call without a name", { role: "assistant", content: "", toolCalls: [{ id: "c1", arguments: {} }] }],
  ["calls that are no list", { role: "assistant", content: "", toolCalls: call }],
  ["arguments that are a list", { role: "assistant", content: "", toolCalls: [{ ...call, arguments: [] }] }],
  ["parts that are no list", { role: "assistant", content: "", parts: "p" }],
  ["a part of another kind", { role: "assistant", content: "", parts: [{ type: "source" }] }],
  ["a part without its text", { role: "assistant", content: "", parts: [{ type: "text" }] }],
  ["a result of no call", { role: "tool", content: "" }],
  ["an unknown outcome", { role: "tool", content: "", toolCallId: "c1", outcome: "vanished" }]
])("PLAINMSG1 a message with %s does not pass", (_, message) => {
  expect(isPlainMessage(message)).toBe(false)
})

test("CODEC1, CODEC3 a thread of plain messages decodes as any other, and one that does not fit is refused", () => {
  const plain = { messages: [{ role: "user" as const, content: "hi" }] }
  expect(decode("Thread", encode("Thread", plain))).toEqual(plain)
  expect(decode("Thread", JSON.stringify(plain))).toEqual(plain)
  const tagged = { messages: [{ role: "user" as const, content: '"$date', metadata: { at: dateOf(0) } }] }
  expect(decode("Thread", JSON.stringify(JSON.parse(encode("Thread", tagged)).data))).toEqual(tagged)
  expect(() => decode("Thread", '{"messages":[{"role":"robot","content":"hi"}]}')).toThrow()
})
