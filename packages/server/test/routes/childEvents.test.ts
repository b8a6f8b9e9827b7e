/** The events of the child of a call, by each protocol. */
import { askUser, Fake, tool } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Codec } from "@troupe/chat/store"
import { describe, expect, test } from "vitest"
import { framesIn, reading, served } from "../double/served.ts"

const call = (id: string, name: string, args: object = {}): Fake.Script => [
  { toolCall: { id, name, arguments: { ...args } } },
  { finish: "tool_calls" }
]
const says = (text: string): Fake.Script => [{ text }, { finish: "stop" }]

/** A chat whose call asks a sub-agent, whose own call fails. */
const family = (last: Fake.Script = says("Found it.")) => {
  const fails = tool({
    name: "look",
    execute: () => {
      throw new Error("hunter2")
    }
  })
  return served({
    adapter: Fake.make({ scripts: [call("c0", "research", { input: "Dig" }), says("Done.")] }),
    tools: [Agents.subagent("research", { events: true })],
    agents: { research: { adapter: Fake.make({ scripts: [call("k0", "look"), last] }), tools: [fails] } }
  })
}

const uiMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] }

describe("the events of a child", () => {
  test("are in the server's own stream, in the form of the codec, under the owner's id of the child", async () => {
    const { ask } = await family()
    const response = await ask("POST", "/chats/c/messages", { input: "Go" }, { accept: "text/event-stream" })
    const nested = framesIn(await response.text()).flatMap(({ json, type }) => (type === "child_event" ? [json] : []))
    expect(nested.map((json) => Codec.fromJson("Event", json))).toEqual(
      expect.arrayContaining([
        {
          type: "child_event",
          toolCallId: "c0",
          chat: expect.stringMatching(/^c\/~\//),
          agent: "research",
          event: { type: "text_delta", id: null, delta: "Found it." }
        }
      ])
    )
    expect(nested.at(-1)).toMatchObject({ event: { type: "chat_completed", result: { steps: [] } } })
  })

  test("TERR1 have no text of a tool's error", async () => {
    const { ask } = await family()
    const response = await ask("POST", "/chats/c/messages", { input: "Go" }, { accept: "text/event-stream" })
    const text = await response.text()
    expect(text).toContain("Found it.")
    expect(text).toContain(String.raw`{\"error\":\"failed\",\"id\":\"k0\"}`)
    expect(text).not.toContain("hunter2")
  })

  test("CHILDDATA1 are transient parts of the AI SDK's stream, without the ends of steps", async () => {
    const { ask } = await family()
    const text = await (await ask("POST", "/api/chat", { id: "c", messages: [uiMessage] })).text()
    const parts = text
      .split("\n\n")
      .flatMap((line) => (line.includes('"data-troupe-child"') ? [JSON.parse(line.slice("data: ".length))] : []))
    expect(parts).toContainEqual({
      type: "data-troupe-child",
      transient: true,
      data: {
        toolCallId: "c0",
        chat: expect.stringMatching(/^c\/~\//),
        agent: "research",
        event: { type: "text_delta", id: null, delta: "Found it." }
      }
    })
    expect(text).not.toContain("step_completed")
    expect(text).not.toContain("hunter2")
  })

  test("CHILDDATA1 are custom events of AG-UI", async () => {
    const { ask } = await family()
    const run = { threadId: "c", runId: "r", messages: [{ id: "u1", role: "user", content: "Go" }] }
    const frames = framesIn(await (await ask("POST", "/ag-ui", run)).text()).map(({ json }) => json)
    expect(frames).toContainEqual({
      type: "CUSTOM",
      name: "troupe.child",
      value: {
        toolCallId: "c0",
        chat: expect.stringMatching(/^c\/~\//),
        agent: "research",
        event: { type: "text_delta", id: null, delta: "Found it." }
      }
    })
  })

  test.each([
    ["/v1/responses", { input: "Go" }],
    ["/v1/chat/completions", { messages: [{ role: "user", content: "Go" }] }]
  ])("are not in the stream of OpenAI's %s", async (path, body) => {
    const { ask } = await family()
    const text = await (await ask("POST", path, { model: "troupe", stream: true, ...body })).text()
    expect(text).toContain("Done.")
    expect(text).not.toContain("Found it.")
  })
})

test("CHILDID1 the conversation of a child is read by the id that its events have", async () => {
  const { ask } = await family()
  const response = await ask("POST", "/chats/c/messages", { input: "Go" }, { accept: "text/event-stream" })
  const [, id = ""] = /"chat":"([^"]+)"/.exec(await response.text()) ?? []
  const history = await ask("GET", `/chats/${encodeURIComponent(id)}/history`)
  expect(history.status).toBe(200)
  expect(await history.text()).toContain("Found it.")
})

test("CHILDID1 a wait of a child has the owner's id of the child, in events and in the view", async () => {
  const asks = tool({ name: "look", execute: () => askUser("Which?") })
  const { ask } = await served({
    adapter: Fake.make({ scripts: [call("c0", "research", { input: "Dig" }), says("Done.")] }),
    tools: [Agents.subagent("research")],
    agents: { research: { adapter: Fake.make({ scripts: [call("k0", "look"), says("Found it.")] }), tools: [asks] } }
  })
  const response = await ask("POST", "/chats/c/messages", { input: "Go" }, { accept: "text/event-stream" })
  const text = await response.text()
  expect(text).toContain('"c0/~/k0"')
  expect(text).toMatch(/"chat":"c\/~\//)
  expect(text).not.toContain("anna/")
  const view = reading(await ask("GET", "/chats/c/view"))
  expect(await view.until("c0/~/k0")).not.toContain("anna/")
  await view.leave()
})

test("CHILDID1 the view has the child below its running call, under the owner's id", async () => {
  const { ask } = await family([{ text: "Let me" }, { hang: true }])
  const view = reading(await ask("GET", "/chats/c/view"))
  await ask("POST", "/chats/c/messages", { input: "Go" })
  const text = await view.until("Let me")
  expect(text).toMatch(/"progress":\{"chat":"c\/~\/[^"]+","agent":"research"\}/)
  expect(text).toMatch(/"child":\{"chat":"c\/~\//)
  expect(text).not.toContain("anna/")
  await view.leave()
  await ask("POST", "/chats/c/cancel", {})
})

test("CHILDID1 the reported state of a call has the owner's id of its child", async () => {
  const { ask } = await served({
    adapter: Fake.make({ scripts: [call("c0", "research", { input: "Dig" })] }),
    tools: [Agents.subagent("research", { events: true })],
    agents: { research: { adapter: Fake.make({ script: [{ hang: true }] }) } }
  })
  const stream = reading(await ask("POST", "/api/chat", { id: "c", messages: [uiMessage] }))
  const text = await stream.until("data-troupe-progress")
  expect(text).toMatch(/"progress":\{"chat":"c\/~\//)
  expect(text).not.toContain("anna/")
  await stream.leave()
  await ask("POST", "/chats/c/cancel", {})
})
