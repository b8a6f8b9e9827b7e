import { describe, expect, test } from "vitest"
import { assistant, system, text, toolResult, user } from "../../src/model/Message.ts"
import { text as responseText } from "../../src/model/Response.ts"
import * as Thread from "../../src/model/Thread.ts"
import { parseArguments } from "../../src/model/ToolCall.ts"

describe("a thread", () => {
  test("is made of messages, and a thread is taken as it is", () => {
    const thread = Thread.from([user("hi")])
    expect(Thread.from(thread)).toBe(thread)
    expect(Thread.from([user("hi")])).toEqual(thread)
  })

  test("appending makes a new one and keeps its metadata", () => {
    const thread = { messages: [user("hi")], metadata: { a: 1 } }
    const longer = Thread.append(thread, assistant("hello"), user("bye"))
    expect(longer).toMatchObject({
      metadata: { a: 1 },
      messages: [{ content: "hi" }, { content: "hello" }, { content: "bye" }]
    })
    expect(thread.messages).toHaveLength(1)
    expect(Thread.append(Thread.empty, user("hi")).messages).toHaveLength(1)
    expect(Thread.empty.messages).toEqual([])
  })

  test("154 goes to JSON and back", () => {
    const call = { id: "c0", name: "t", arguments: { x: 1 }, rawArguments: '{"x":1}' }
    const image = { type: "image", image: { url: "data:image/png;base64,AA==" } } as const
    const thread = Thread.from([
      system("be kind"),
      user([{ type: "text", text: "hi" }, image]),
      assistant("", [call]),
      toolResult("c0", "1")
    ])
    expect(Thread.Thread.parse(JSON.parse(JSON.stringify(thread)))).toEqual(thread)
  })

  test("the text of a message is its text parts together", () => {
    const image = { type: "image", image: { url: "http://x" } } as const
    expect(text(user([{ type: "text", text: "a" }, image, { type: "text", text: "b" }]))).toBe("ab")
    expect(text(user("a"))).toBe("a")
    expect(assistant("a")).not.toHaveProperty("toolCalls")
  })

  test("the text of a response is what was streamed, else its message's", () => {
    const response = { outputText: "", toolCalls: [], finishReason: null, usage: {}, metadata: {} }
    expect(responseText({ ...response, outputText: "a", message: assistant("b") })).toBe("a")
    expect(responseText({ ...response, message: assistant("b") })).toBe("b")
    expect(responseText(response)).toBe("")
  })
})

describe("argument text", () => {
  test.each([
    ["", {}],
    ["  ", {}],
    ['{"a":1}', { a: 1 }],
    ['{"a":', null],
    ["[1]", null],
    ["null", null],
    ["7", null],
    ['{"a":1} trailing', null]
  ])("D14 %j is %j: nothing is repaired", (raw, parsed) => {
    expect(parseArguments(raw)).toEqual(parsed)
  })
})
