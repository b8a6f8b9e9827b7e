import { HttpAgent } from "@ag-ui/client-0.0.59"
import { CopilotKitCore } from "@copilotkit/core"
import { Fake, tool, type TroupeOptions } from "@troupe/chat"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { AgUi } from "../../src/index.ts"
import { serving } from "../double/serving.ts"

/** CopilotKit's core with an agent of the server, as an application has it. */
const copilot = async (options: TroupeOptions) => {
  const { url, troupe } = await serving(options)
  const agent = new HttpAgent({ url: `${url}/ag-ui`, threadId: "c", agentId: "guide" })
  const core = new CopilotKitCore({ agents__unsafe_dev_only: { guide: agent } })
  const errors: Array<unknown> = []
  core.subscribe({ onError: ({ code, error }) => void errors.push([code, error.message]) })
  const say = (id: string, content: string) => agent.addMessage({ id, role: "user", content })
  const run = () => core.runAgent({ agent })
  return { url, troupe, agent, core, errors, say, run }
}

const brief = (messages: ReadonlyArray<object>): unknown =>
  messages.map((message) => [Reflect.get(message, "role"), Reflect.get(message, "content")])

const calls = (name: string, args: Record<string, unknown> = {}, id = "c0") =>
  [{ toolCall: { id, name, arguments: args } }, { finish: "tool_calls" }] as const

const says = (text: string) => [{ text }, { finish: "stop" }] as const

describe("CopilotKit's core", () => {
  it("runs its own tool, and sends the result with the next run by itself", async () => {
    const adapter = Fake.make({ scripts: [[...calls("paint", { color: "blue" })], [...says("It is blue")]] })
    const { agent, core, errors, say, run } = await copilot({ adapter })
    const painted: Array<unknown> = []
    core.addTool({
      name: "paint",
      description: "Paints the page",
      parameters: z.object({ color: z.string() }),
      handler: async ({ color }) => {
        painted.push(color)
        return { done: true }
      }
    })
    say("u1", "Paint it")
    await run()
    expect(errors).toEqual([])
    expect(painted).toEqual(["blue"])
    expect(brief(agent.messages)).toEqual([
      ["user", "Paint it"],
      ["assistant", undefined],
      ["tool", '{"done":true}'],
      ["assistant", "It is blue"]
    ])
    expect(adapter.requests.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([["paint"], ["paint"]])
    expect(adapter.requests[0]?.tools?.[0]?.schema).toMatchObject({ properties: { color: { type: "string" } } })
  })

  it("sends the result of a tool without a follow-up with the next message", async () => {
    const adapter = Fake.make({ scripts: [[...calls("show")], [...says("You saw it")]] })
    const { agent, core, errors, say, run } = await copilot({ adapter })
    core.addTool({ name: "show", parameters: z.object({}), followUp: false, handler: async () => "shown" })
    say("u1", "Show it")
    await run()
    say("u2", "And?")
    await run()
    expect(errors).toEqual([])
    expect(agent.messages.at(-1)).toMatchObject({ id: "u2.reply.1", content: "You saw it" })
    expect(brief(adapter.requests[1]?.messages ?? [])).toEqual([
      ["user", "Show it"],
      ["assistant", ""],
      ["tool", "shown"],
      ["user", "And?"]
    ])
  })

  it("sends its context and its state, and gets the state that a tool of the server sets", async () => {
    const plan = tool({
      name: "plan",
      execute: (_, { context }) => {
        AgUi.of(context)?.setState({ ...Object(AgUi.of(context)?.state), steps: ["pack"] })
        return "planned"
      }
    })
    const adapter = Fake.make({ scripts: [[...calls("plan")], [...says("Planned")]] })
    const { agent, core, errors, say, run } = await copilot({ adapter, tools: [plan] })
    core.addContext({ description: "The city", value: "Oslo" })
    agent.setState({ page: "trips" })
    say("u1", "Plan a trip")
    await run()
    expect(errors).toEqual([])
    expect(agent.state).toEqual({ page: "trips", steps: ["pack"] })
    const instructions = JSON.stringify(adapter.requests[0]?.messages[0])
    expect(instructions).toContain("Oslo")
    expect(instructions).toContain("trips")
  })

  it("regenerates an answer: the messages behind the question are replaced", async () => {
    const adapter = Fake.make({ scripts: [[...says("One")], [...says("Two")], [...says("Three")]] })
    const { agent, troupe, errors, say, run } = await copilot({ adapter })
    say("u1", "Count")
    await run()
    say("u2", "On")
    await run()
    // The regeneration of its chat component: the messages up to the question, then a run.
    agent.setMessages(agent.messages.slice(0, agent.messages.findIndex(({ id }) => id === "u1") + 1))
    await run()
    expect(errors).toEqual([])
    const expected = [
      ["user", "Count"],
      ["assistant", "Three"]
    ]
    expect(brief(agent.messages)).toEqual(expected)
    expect(brief((await troupe.chat("anna/c")).thread.messages)).toEqual(expected)
  })

  it("answers an interrupt with resume", async () => {
    const adapter = Fake.make({ scripts: [[...calls("pay")], [...says("Paid")]] })
    const { agent, core, errors, say, run } = await copilot({
      adapter,
      tools: [tool({ name: "pay", execute: () => "paid" })],
      permissions: { ask: () => "suspend" }
    })
    say("u1", "Pay")
    await run()
    const [interrupt] = agent.pendingInterrupts
    expect(interrupt).toMatchObject({ id: "approval:c0", toolCallId: "c0" })
    // Its interrupt hook adds a message for the call too: the server has the result of the call itself.
    agent.addMessage({ id: "t1", role: "tool", toolCallId: "c0", content: '{"approved":true}' })
    const resume = [{ interruptId: "approval:c0", status: "resolved" as const, payload: { approved: true } }]
    await core.runAgent({ agent, resume })
    expect(errors).toEqual([])
    expect(agent.messages.at(-1)).toMatchObject({ content: "Paid" })
    expect(brief(adapter.requests[1]?.messages ?? [])).toContainEqual(["tool", "paid"])
  })

  it("gets the code of a run that fails", async () => {
    const adapter = Fake.make({ script: [{ preflightError: "rate_limited" }] })
    const { errors, say, run } = await copilot({ adapter, retry: false })
    say("u1", "Hi")
    await run()
    expect(JSON.stringify(errors)).toContain("rate limited")
  })
})
