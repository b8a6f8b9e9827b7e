import { Message, type ToolCall } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import { describe, expect, test } from "vitest"
import { abilities, respond } from "../src/scriptedModel.ts"

const declared = (...names: ReadonlyArray<string>): Array<Request["tools"][number]> =>
  names.map((name) => ({ name, description: "", schema: {} }))

const everyTool = declared("list_directory", "read_text_file", "search_files", "calculate", "ask", "slow_job")

const call = (id: string, name: string, args: Record<string, unknown>): ToolCall.ToolCall => ({
  id,
  name,
  arguments: args
})

const reply = (messages: ReadonlyArray<Message.Message>, tools = everyTool) => respond({ messages, tools }, "/home/ada")

const question = (text: string): Extract<Message.Message, { role: "assistant" }> => ({
  role: "assistant",
  content: text,
  metadata: { ask_user: true, tool_call_id: "call_1" }
})

describe("the scripted model", () => {
  test("turns what is typed into tool calls, several side by side", () => {
    const said = reply([Message.user("what is 1+2 and list the files here")])
    expect(said.text).toBe("I will do these 2 things side by side.")
    expect(said.calls).toEqual([
      call("call_1", "calculate", { expression: "1+2" }),
      call("call_2", "list_directory", { path: "." })
    ])
  })

  test("numbers its calls on through a thread", () => {
    const made = call("call_1", "calculate", { expression: "1+2" })
    const thread = [
      Message.user("what is 1+2"),
      Message.assistant("", [made]),
      Message.toolResult("call_1", "3"),
      Message.assistant("1+2 = 3"),
      Message.user("what is 2+2")
    ]
    expect(reply(thread).calls.map(({ id }) => id)).toEqual(["call_2"])
  })

  test("answers from the tool messages it sees, whatever they say", () => {
    const thread = [
      Message.user("what is 1+2 and list the files here"),
      Message.assistant("", [
        call("call_1", "calculate", { expression: "1+2" }),
        call("call_2", "list_directory", { path: "." })
      ]),
      Message.toolResult("call_2", '{"content":"[FILE] x.txt"}'),
      Message.toolResult("call_1", "4")
    ]
    expect(reply(thread)).toEqual({ text: "1+2 = 4\n\nThis folder holds 1 file:\n  x.txt", calls: [] })
  })

  test("reads what a search found, in a second step", () => {
    const thread = [
      Message.user("search for notes and read it"),
      Message.assistant("", [call("call_1", "search_files", { path: ".", pattern: "**/*notes*" })]),
      Message.toolResult("call_1", "/home/ada/notes\n/home/ada/notes/today.md")
    ]
    expect(reply(thread).calls).toEqual([call("call_2", "read_text_file", { path: "notes/today.md" })])
    const read = [
      ...thread,
      Message.assistant("", [call("call_2", "read_text_file", { path: "notes/today.md" })]),
      Message.toolResult("call_2", "buy milk")
    ]
    expect(reply(read)).toMatchObject({
      calls: [],
      text: expect.stringMatching(/2 names match[^]*today\.md has 1 line:\n {2}buy milk/)
    })
  })

  test("takes the message after a tool's question for the answer, not for a new request", () => {
    const thread = [
      Message.user("book a table and what is 1+2"),
      Message.assistant("", [
        call("call_1", "ask", { question: "when?" }),
        call("call_2", "calculate", { expression: "1+2" })
      ]),
      Message.toolResult("call_1", "<awaiting user response>"),
      Message.toolResult("call_2", "3"),
      question("when?"),
      Message.user("list the files here")
    ]
    expect(reply(thread)).toEqual({
      text: expect.stringMatching(/^1\+2 = 3\n\nYou answered my question with "list the files here"/),
      calls: []
    })
  })

  test("after an answered question a new request is a request again", () => {
    const thread = [
      Message.user("book a table"),
      Message.assistant("", [call("call_1", "ask", { question: "when?" })]),
      Message.toolResult("call_1", "<awaiting user response>"),
      question("when?"),
      Message.user("at eight"),
      Message.assistant("noted"),
      Message.user("what is 1+1")
    ]
    expect(reply(thread).calls).toEqual([call("call_2", "calculate", { expression: "1+1" })])
  })

  test("says which tools it has not, and does the rest", () => {
    const tools = declared("calculate")
    expect(reply([Message.user("list the files here")], tools)).toEqual({
      text: "I have no list_directory here, so I leave that part out.",
      calls: []
    })
    expect(reply([Message.user("list the files here and 1+1")], tools).calls).toHaveLength(1)
  })

  test("lists what its tools can do when it does not understand", () => {
    const all = abilities(new Set(everyTool.map(({ name }) => name)))
    expect(reply([Message.user("write me a poem")])).toEqual({ text: all, calls: [] })
    expect(reply([Message.user("hello")]).text).toBe(`Hello! ${all}`)
    expect(all).toContain("- List the files here")
    expect(reply([Message.user("hello")], declared("weather")).text).not.toContain("List the files here")
  })

  test("works as a researcher: it looks at the weather, and asks a person", () => {
    const task = Message.user("Research the weather in Oslo.")
    expect(reply([task]).calls).toEqual([call("call_1", "weather", { city: "Oslo" })])
    const looked = Message.assistant("", [call("call_1", "weather", { city: "Oslo" })])
    expect(reply([task, looked, Message.toolResult("call_1", "9 °C in Oslo")]).text).toContain("9 °C in Oslo")
    const visit = Message.user("Research the visit in Oslo.")
    expect(reply([visit]).calls.map(({ name }) => name)).toEqual(["ask"])
    const asked = Message.assistant("", [call("call_1", "ask", { question: "who?" })])
    const waiting = Message.toolResult("call_1", "<awaiting user response>")
    expect(reply([visit, asked, waiting, question("who?"), Message.user("we two")]).text).toContain("“we two”")
  })
})
