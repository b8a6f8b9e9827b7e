// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react"
import { Engine, Fake, tool } from "@troupe/chat"
import { bind, environment, provide, stepMachine, toolCallMachine } from "@troupe/chat/machines"
import { Message } from "@troupe/chat/messages"
import { useActor, useActorRef, useMachine } from "@xstate/react"
import { createElement, StrictMode, useEffect } from "react"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { useSnapshot } from "../../src/index.ts"
import { until } from "../double/frames.ts"

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const echo = tool({ name: "echo", execute: (args) => args })

const engineOf = (...scripts: ReadonlyArray<Fake.Script>): Engine.Engine =>
  Engine.make({ adapter: Fake.make({ scripts }), tools: [echo] })

const calling: Fake.Script = [{ toolCall: { id: "t1", name: "echo", arguments: { x: 1 } } }, { finish: "tool_calls" }]
const saying: Fake.Script = [{ text: "done" }, { finish: "stop" }]

test("a page runs a chat's machine with useMachine, tools and all", async () => {
  const machine = provide(engineOf(calling, saying))
  const turn = { messages: [Message.user("hi")] }
  const Page = () => {
    const [{ context, value }, send] = useMachine(machine, { input: { id: "c1" } })
    useEffect(() => send({ type: "turn.start", turn }), [send])
    const said = context.record.thread.messages.map((message) => Message.text(message))
    return createElement("p", undefined, [JSON.stringify(value), ...said].join(" | "))
  }
  const { container } = render(createElement(Page))
  await until(() => container.textContent === '"idle" | hi |  | {"x":1} | done')
  expect(container.textContent).toContain("done")
})

test("BARE3 a page shows the calls of a running step, and the outcome of one while another runs", async () => {
  const started = Promise.withResolvers<void>()
  const wait = tool({ name: "wait", execute: () => started.promise.then(() => "over") })
  const look = tool({ name: "look", execute: () => new Promise<string>(() => {}) })
  const calls = [{ toolCall: { id: "t1", name: "wait" } }, { toolCall: { id: "t2", name: "look" } }]
  const adapter = Fake.make({ script: [...calls, { finish: "tool_calls" }] })
  const machine = provide(Engine.make({ adapter, tools: [wait, look] }))
  const Page = () => {
    const [{ context }, send] = useMachine(machine, { input: { id: "c1" } })
    useEffect(() => send({ type: "turn.start", turn: { messages: [Message.user("hi")] } }), [send])
    const shown = context.partial.calls.map(({ name, status, outcome }) => [name, status, outcome].join(" ").trim())
    return createElement("p", undefined, shown.join(", "))
  }
  const { container } = render(createElement(Page))
  await until(() => container.textContent === "wait running, look running")
  started.resolve()
  await until(() => container.textContent === "wait done completed, look running")
  expect(container.textContent).toContain("look running")
})

test("a page runs a step's machine with useActor", async () => {
  const machine = bind(stepMachine, environment(engineOf(calling)))
  const input = { id: "s", thread: { messages: [Message.user("hi")] } }
  let said: unknown
  const Page = () => {
    const [{ output, status }] = useActor(machine, { input })
    if (output?.type === "stepped") said = output.result.json
    return createElement("p", undefined, status)
  }
  const { container } = render(createElement(Page))
  await until(() => container.textContent === "done")
  expect(said).toMatchObject({ thread: { messages: [{ content: "hi" }, { content: "" }, { content: '{"x":1}' }] } })
})

test("a page runs a tool call's machine, and shows a part of it with useSnapshot", async () => {
  const { options } = environment(engineOf()).turn("")
  const call = { tool: echo, toolCall: { id: "t1", name: "echo", arguments: { x: 1 } }, options }
  const machine = bind(toolCallMachine, { call: () => call })
  const Page = () => {
    const actor = useActorRef(machine, { input: { drainMs: 0, startAtOnce: true } })
    const value = useSnapshot(actor, (snapshot) => snapshot.value)
    return createElement("p", undefined, value)
  }
  const { container } = render(createElement(StrictMode, undefined, createElement(Page)))
  await until(() => container.textContent === "completed")
  expect(container.textContent).toBe("completed")
})

test("BARE1 a page in StrictMode, which stops and starts the actor in mid-turn, shows the text while it streams", async () => {
  const adapter = Fake.make({ respond: () => [{ text: "Once " }, { text: "upon" }, { hang: true }] })
  const machine = provide(Engine.make({ adapter }))
  let isSent = false
  const Page = () => {
    const [{ context, value }, send] = useMachine(machine, { input: { id: "c1" } })
    useEffect(() => {
      if (!isSent) send({ type: "turn.start", turn: { messages: [Message.user("hi")] } })
      isSent = true
    }, [send])
    return createElement("p", undefined, `${JSON.stringify(value)} ${context.partial.text}`)
  }
  const { container } = render(createElement(StrictMode, undefined, createElement(Page)))
  await until(() => container.textContent === '{"running":"phaseA"} Once upon')
  cleanup()
  await until(() => adapter.open === 0)
  expect(adapter.requests).toHaveLength(2)
})
