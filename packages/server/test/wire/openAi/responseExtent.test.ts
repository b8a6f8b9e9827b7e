import { Message } from "@troupe/chat/messages"
import { expect, test } from "vitest"
import { extentOf } from "../../../src/wire/openAi/responseExtent.ts"

const call = (id: string) => ({ id, name: id, arguments: {}, rawArguments: "{}" })
const ofServer = (id: string): Message.Message => ({ role: "tool", toolCallId: id, content: id, outcome: "completed" })
const ofClient = (id: string): Message.Message => ({ role: "tool", toolCallId: id, content: id })
const cut: Message.Message = { ...Message.assistant("Half"), metadata: { cancelled: true } }

const outline = (messages: ReadonlyArray<Message.Message>, at: number) => {
  const { own, end } = extentOf(messages, at)
  return [own.map((message) => Message.text(message)), end]
}

test("a response has the steps between its input and the next message of a person", () => {
  const messages = [
    Message.user("a"),
    Message.assistant("1", [call("s")]),
    ofServer("s"),
    Message.assistant("2"),
    Message.user("b"),
    Message.assistant("3")
  ]
  expect(outline(messages, 0)).toEqual([["1", "s", "2"], 4])
  expect(outline(messages, 4)).toEqual([["3"], 6])
})

test("a response ends with the step whose calls the client answered, and the next one begins with the results", () => {
  const messages = [
    Message.user("a"),
    Message.assistant("1", [call("c"), call("s")]),
    ofClient("c"),
    ofServer("s"),
    Message.user("b"),
    Message.assistant("2")
  ]
  expect(outline(messages, 0)).toEqual([["1"], 3])
  expect(outline(messages, 3)).toEqual([["2"], 6])
})

test("a response without a reply is empty, and takes none of the next one", () => {
  expect(outline([Message.user("a"), Message.user("b"), Message.assistant("1")], 0)).toEqual([[], 1])
  expect(outline([Message.user("a")], 0)).toEqual([[], 1])
})

test("the text of an earlier reply that was cut short is not a part of the response", () => {
  const messages = [Message.user("a"), cut, Message.user("b"), Message.assistant("1")]
  expect(outline(messages, 1)).toEqual([["1"], 4])
})

test("a place behind the thread is not found", () => {
  expect(() => extentOf([Message.user("a")], 1)).toThrow("no longer has this response")
})
