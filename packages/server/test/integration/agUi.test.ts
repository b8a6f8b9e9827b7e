import { type AgentSubscriber, type BaseEvent, HttpAgent, type Interrupt, type Message } from "@ag-ui/client"
import { EventSchemas } from "@ag-ui/core/schemas"
import { askUser, Fake, tool } from "@troupe/chat"
import { describe, expect, it } from "vitest"
import { handModel } from "../double/handModel.ts"
import { serving } from "../double/serving.ts"

const agentOf = (url: string, threadId = "c") => new HttpAgent({ url: `${url}/ag-ui`, threadId })

const say = (agent: HttpAgent, id: string, content: string) => agent.addMessage({ id, role: "user", content })

/** Runs, and says what came: every event of a form of the protocol. */
const run = async (agent: HttpAgent, parameters: Parameters<HttpAgent["runAgent"]>[0] = {}) => {
  const events: Array<BaseEvent> = []
  const seen: {
    outcome?: string
    interrupts?: ReadonlyArray<Interrupt>
    pending?: ReadonlyArray<string>
    error?: string
  } = {}
  const subscriber: AgentSubscriber = {
    onEvent: ({ event }) => {
      events.push(event)
      expect({ event, isKnown: EventSchemas.safeParse(event).success }).toEqual({ event, isKnown: true })
    },
    onRunFinishedEvent: (finished) => {
      seen.outcome = finished.outcome
      if (finished.outcome === "interrupt") seen.interrupts = finished.interrupts
      if (finished.outcome === "success") seen.pending = finished.pendingToolCallIds
    },
    onRunErrorEvent: ({ event }) => {
      seen.error = `${event.code}: ${event.message}`
    }
  }
  await agent.runAgent(parameters, subscriber)
  return { ...seen, types: events.map(({ type }): string => type) }
}

const briefly = (messages: ReadonlyArray<Message>) => messages.map(({ id, role, content }) => ({ id, role, content }))

/** What another client gets of the conversation. */
const reloaded = async (url: string) => {
  const other = agentOf(url)
  await run(other)
  return other.messages
}

describe("HttpAgent of @ag-ui/client", () => {
  it("gets the progress of a tool, and keeps nothing of it in its messages", async () => {
    let end = (): void => {}
    const look = tool({
      name: "look",
      execute: (_, { progress }) => {
        progress({ half: 0.5 })
        return new Promise((resolve) => (end = () => resolve("rain")))
      }
    })
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "look" } }, { finish: "tool_calls" }],
          [{ text: "Rain" }, { finish: "stop" }]
        ]
      }),
      tools: [look]
    })
    const agent = agentOf(url)
    say(agent, "u1", "Weather?")
    const notified: Array<unknown> = []
    agent.subscribe({
      onCustomEvent: ({ event }) => {
        notified.push([event.name, event.value])
        if (notified.length === 2) end()
      }
    })
    expect((await run(agent)).outcome).toBe("success")
    expect(notified).toEqual([
      ["troupe.call", { toolCallId: "c0", state: "running" }],
      ["troupe.progress", { toolCallId: "c0", progress: { half: 0.5 } }]
    ])
    expect(agent.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
    expect(JSON.stringify(agent.messages)).not.toContain("half")
  })

  it("AGUI1. runs: something is said, the answer streams, and all that is begun is ended", async () => {
    const { url } = await serving({
      adapter: Fake.make({ script: [{ text: "Hel" }, { text: "lo" }, { finish: "stop" }] })
    })
    const agent = agentOf(url)
    say(agent, "u1", "Hi")
    const { types, outcome } = await run(agent)
    expect(outcome).toBe("success")
    expect([...new Set(types)]).toEqual([
      "RUN_STARTED",
      "STEP_STARTED",
      "TEXT_MESSAGE_START",
      "TEXT_MESSAGE_CONTENT",
      "TEXT_MESSAGE_END",
      "STEP_FINISHED",
      "RUN_FINISHED"
    ])
    expect(briefly(agent.messages)).toEqual([
      { id: "u1", role: "user", content: "Hi" },
      { id: "u1.reply.1", role: "assistant", content: "Hello" }
    ])
    say(agent, "u2", "Again")
    await run(agent)
    expect(agent.messages.length).toBe(4)
  })

  it("AGUI2. messages have the same ids live, and when the conversation is loaded anew", async () => {
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [
          [{ text: "Wait." }, { toolCall: { id: "c0", name: "add", arguments: { a: 1 } } }, { finish: "tool_calls" }],
          [{ toolCall: { id: "c1", name: "add", arguments: { a: 2 } } }, { finish: "tool_calls" }],
          [{ text: "Done" }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "add", execute: ({ a }) => ({ sum: a }) })]
    })
    const agent = agentOf(url)
    say(agent, "u1", "Go")
    await run(agent)
    expect(agent.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "assistant"
    ])
    expect(JSON.parse(JSON.stringify(await reloaded(url)))).toEqual(JSON.parse(JSON.stringify(agent.messages)))
  })

  it("a tool of the client's is left to it, and its result is taken with the next run", async () => {
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "where", arguments: { exact: true } } }, { finish: "tool_calls" }],
          [{ text: "In Oslo" }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "where", manual: true })]
    })
    const agent = agentOf(url)
    say(agent, "u1", "Where am I?")
    expect(await run(agent)).toMatchObject({ outcome: "success", pending: ["c0"] })
    agent.addMessage({ id: "t1", role: "tool", toolCallId: "c0", content: '{"city":"Oslo"}' })
    expect(await run(agent)).toMatchObject({ outcome: "success", pending: [] })
    expect(agent.messages.at(-1)).toMatchObject({ id: "u1.reply.2", content: "In Oslo" })
  })

  it("RESULT3 a tool of the client's that failed has its error as its result", async () => {
    const adapter = Fake.make({
      scripts: [
        [{ toolCall: { id: "c0", name: "where" } }, { finish: "tool_calls" }],
        [{ text: "Never mind" }, { finish: "stop" }]
      ]
    })
    const { url } = await serving({ adapter, tools: [tool({ name: "where", manual: true })] })
    const agent = agentOf(url)
    say(agent, "u1", "Where am I?")
    await run(agent)
    agent.addMessage({ id: "t1", role: "tool", toolCallId: "c0", content: "", error: "No position" })
    expect(await run(agent)).toMatchObject({ outcome: "success", pending: [] })
    expect(adapter.requests[1]?.messages.at(-1)).toMatchObject({
      content: '{"error":"No position"}',
      outcome: "failed"
    })
    expect(agent.messages.at(-1)).toMatchObject({ content: "Never mind" })
  })

  it("a tool of the client's whose parameters are of no object is refused, and nothing begins", async () => {
    const { post, troupe } = await serving(
      { adapter: Fake.make({ script: [{ finish: "stop" }] }) },
      { clientTools: true }
    )
    const response = await post("/ag-ui", {
      threadId: "c",
      runId: "r1",
      messages: [{ id: "u1", role: "user", content: "Hi" }],
      tools: [{ name: "where", description: "", parameters: { type: "string" } }]
    })
    expect([response.status, await response.text()]).toEqual([
      422,
      expect.stringContaining("needs as its `parameters` a JSON schema of an object")
    ])
    expect((await troupe.list()).chats).toEqual([])
  })

  it("a call that waits for a decision interrupts the run, and resume decides", async () => {
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "pay" } }, { toolCall: { id: "c1", name: "pay" } }, { finish: "tool_calls" }],
          [{ text: "Paid once" }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "pay", execute: () => "paid" })],
      permissions: { ask: () => "suspend" }
    })
    const agent = agentOf(url)
    say(agent, "u1", "Pay")
    const { outcome, interrupts = [] } = await run(agent)
    expect(outcome).toBe("interrupt")
    expect(interrupts).toMatchObject([{ toolCallId: "c0", reason: "tool_call" }, { toolCallId: "c1" }])
    const [first, second] = interrupts
    const resumed = await run(agent, {
      resume: [
        { interruptId: first?.id ?? "", status: "resolved", payload: { approved: true } },
        { interruptId: second?.id ?? "", status: "cancelled" }
      ]
    })
    expect(resumed.outcome).toBe("success")
    const results = agent.messages.flatMap(({ role, content }) => (role === "tool" ? [content] : []))
    expect(new Set(results)).toEqual(new Set(["Nobody decided", "paid"]))
    expect(agent.messages.at(-1)?.content).toBe("Paid once")
  })

  it("a question interrupts the run, and resume answers it", async () => {
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "asks" } }, { finish: "tool_calls" }],
          [{ text: "Blue it is" }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "asks", execute: () => askUser("Which?", { choices: ["red", "blue"] }) })]
    })
    const agent = agentOf(url)
    say(agent, "u1", "Paint")
    const { interrupts = [] } = await run(agent)
    expect(interrupts).toMatchObject([{ message: "Which?", metadata: { options: { choices: ["red", "blue"] } } }])
    await run(agent, { resume: [{ interruptId: interrupts[0]?.id ?? "", status: "resolved", payload: "blue" }] })
    expect(agent.messages.at(-1)?.content).toBe("Blue it is")
  })

  it("AGUIRUN3. of answers with one that says nothing none is taken", async () => {
    const { url, post } = await serving({
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "pay" } }, { finish: "tool_calls" }],
          [{ text: "Paid" }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "pay", execute: () => "paid" })],
      permissions: { ask: () => "suspend" }
    })
    const agent = agentOf(url)
    say(agent, "u1", "Pay")
    await run(agent)
    const standing = async () => (await fetch(`${url}/chats/c`)).json()
    const before = await standing()
    const resume = [
      { interruptId: "approval:c0", status: "resolved", payload: { approved: true } },
      { interruptId: "question:c1", status: "resolved", payload: "" }
    ]
    expect((await post("/ag-ui", { threadId: "c", runId: "r2", messages: [], resume })).status).toBe(422)
    expect(await standing()).toEqual(before)
    expect(before).toMatchObject({ approvals: [{ toolCall: { id: "c0" } }] })
  })

  it("a failed run says so, with a code", async () => {
    const { url } = await serving({
      adapter: Fake.make({ script: [{ preflightError: "rate_limited" }] }),
      retry: false
    })
    const agent = agentOf(url)
    say(agent, "u1", "Hi")
    const error = await run(agent).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ error: "rate_limited: The model request failed: rate limited" })
  })

  it("a cancelled run is neither a success nor an error", async () => {
    const model = handModel()
    const { url, post } = await serving({ adapter: model.adapter })
    const agent = agentOf(url)
    say(agent, "u1", "Hi")
    const running = run(agent)
    await model.whenOpened(1)
    model.text("Once")
    await post("/api/chat/c/stop", {})
    expect((await running).outcome).toBe("cancelled")
  })

  it("AGUIRUN2. a client that left finds what is under way again, with nothing missing and nothing twice", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const agent = agentOf(url)
    say(agent, "u1", "Hi")
    const left = run(agent).catch(() => undefined)
    await model.whenOpened(1)
    model.text("Once ")
    agent.abortRun()
    await left
    const other = agentOf(url)
    const following = run(other)
    model.text("upon a time")
    model.finish("stop", "Once upon a time")
    expect((await following).outcome).toBe("success")
    expect(briefly(other.messages)).toEqual([
      { id: "u1", role: "user", content: "Hi" },
      { id: "u1.reply.1", role: "assistant", content: "Once upon a time" }
    ])
    expect(model.opened).toBe(1)
  })

  it("AGUIRUN1. a message that waits for its turn, said again, gets its own reply", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const agents = [agentOf(url), agentOf(url), agentOf(url)]
    for (const [index, agent] of agents.entries()) say(agent, index === 0 ? "u1" : "u2", "Hi")
    const [first, ...again] = agents.map(async (agent, index) => {
      if (index > 0) await model.whenOpened(1)
      return run(agent)
    })
    await model.whenOpened(1)
    await expect.poll(() => fetch(`${url}/chats/c`).then((response) => response.text())).toContain('"inbox":[{')
    model.finish("stop", "One")
    expect((await first)?.outcome).toBe("success")
    await model.whenOpened(2)
    model.text("Two")
    model.finish("stop", "Two")
    await Promise.all(again)
    for (const agent of agents.slice(1)) {
      expect(agent.messages.at(-1)).toMatchObject({ id: "u2.reply.1", content: "Two" })
    }
  })

  it("AGUIRUN1. answers to nothing are refused, and a look begins nothing", async () => {
    const { url, post, troupe } = await serving({
      adapter: Fake.make({ script: [{ text: "Hello" }, { finish: "stop" }] })
    })
    const resume = [{ interruptId: "approval:c0", status: "resolved" }]
    const answers = { threadId: "c", runId: "r", messages: [], resume }
    expect((await post("/ag-ui", answers)).status).toBe(404)
    expect(await reloaded(url)).toEqual([])
    expect(await troupe.has("anna/c")).toBe(false)
    const agent = agentOf(url)
    say(agent, "u1", "Hi")
    await run(agent)
    expect((await post("/ag-ui", answers)).status).toBe(409)
  })
})
