/** The messages of agents, by each protocol. */
import { Fake } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { expect, test } from "vitest"
import { framesIn, reading, served } from "../double/served.ts"

const call = (id: string, name: string, args: object = {}): Fake.Script => [
  { toolCall: { id, name, arguments: { ...args } } },
  { finish: "tool_calls" }
]
const says = (text: string): Fake.Script => [{ text }, { finish: "stop" }]

/** A chat whose sub-agent tells it something while it works. */
const talking = () =>
  served({
    adapter: Fake.make({ scripts: [call("c0", "research", { input: "Dig" }), says("Done."), says("Gladly.")] }),
    tools: [Agents.subagent("research")],
    agents: {
      research: {
        adapter: Fake.make({
          scripts: [call("k0", "tell", { to: "parent", message: "Look left" }), says("Found it.")]
        }),
        tools: [Agents.message()]
      }
    }
  })

const uiMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] }

const sender = { chat: expect.stringMatching(/^c\/~\/research-/), kind: "tell" }
const text = expect.stringMatching(/^The agent research-\w+ says:\nLook left$/)

test("AGENTMSG1 the AI SDK's stream has the message of an agent once, with its sender, and so have the messages that a client loads", async () => {
  const { ask } = await talking()
  const stream = await (await ask("POST", "/api/chat", { id: "c", messages: [uiMessage] })).text()
  const parts = stream
    .split("\n\n")
    .flatMap((line) => (line.includes('"data-troupe-message"') ? [JSON.parse(line.slice("data: ".length))] : []))
  expect(parts).toEqual([{ type: "data-troupe-message", transient: true, data: { ...sender, text } }])
  expect(stream).not.toContain("anna/")
  const { messages } = (await (await ask("GET", "/api/chat/c/messages")).json()) as {
    readonly messages: ReadonlyArray<unknown>
  }
  expect(messages).toContainEqual(
    expect.objectContaining({
      role: "user",
      metadata: { from: sender },
      parts: [expect.objectContaining({ type: "text", text })]
    })
  )
  expect(JSON.stringify(messages)).not.toContain("anna/")
})

test("AGENTMSG1 AG-UI's stream has the message of an agent once, with its sender, and so have the messages that a client loads", async () => {
  const { ask } = await talking()
  const run = { threadId: "c", runId: "r", messages: [{ id: "u1", role: "user", content: "Go" }] }
  const stream = await (await ask("POST", "/ag-ui", run)).text()
  const frames = framesIn(stream).map(({ json }) => json)
  expect(frames.filter((json) => JSON.stringify(json).includes("troupe.message"))).toEqual([
    { type: "CUSTOM", name: "troupe.message", value: { ...sender, text } }
  ])
  const loaded = await (await ask("GET", "/ag-ui/c/messages")).text()
  expect(`${stream}${loaded}`).not.toContain("anna/")
  expect(loaded).toContain('"name":"c/~/research-')
})

test("CHILDID1 the view has the message of an agent with its sender, under the owner's id", async () => {
  const { ask } = await talking()
  const response = await ask("POST", "/chats/c/messages", { input: "Go" }, { accept: "text/event-stream" })
  expect(await response.text()).not.toContain("anna/")
  const view = reading(await ask("GET", "/chats/c/view"))
  const shown = await view.until("Look left")
  expect(shown).toMatch(/"from":\{"chat":"c\/~\/research-\w+","kind":"tell"/)
  expect(shown).not.toContain("anna/")
  await view.leave()
  expect(await (await ask("GET", "/chats/c/history")).text()).not.toContain("anna/")
})
