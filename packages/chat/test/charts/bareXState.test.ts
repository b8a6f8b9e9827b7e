import { StateMachine, Telemetry } from "@troupe/otp"
import { expect, test } from "vitest"
import { createActor, fromCallback, type Snapshot, waitFor } from "xstate"
import { adapterStreamMachine } from "../../src/request/AdapterStreamMachine.ts"
import { environment, provide } from "../../src/loop/provide.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import type { Event } from "../../src/events/Event.ts"
import { error, ok } from "../../src/values/HandlerResult.ts"
import { held } from "../../src/values/held.ts"
import type { Hooks } from "../../src/gate/Hooks.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { user } from "../../src/model/Message.ts"
import type { RunnableRequest } from "../../src/request/requestEnv.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { chatMachine, stepMachine } from "../../src/machines.ts"
import { toolCallMachine } from "../../src/call/ToolCallMachine.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, callThenAnswer, echo, handling, hi, says, tagsOf } from "../double/scripts.ts"
import { engineParts, outputOf, type Parts, phaseOf, stepStart } from "../double/stepping.ts"
import type { Handler } from "../../src/tool/toolContract.ts"

const check = leakCheck()

const callInput = { drainMs: 0 }

const callMachine = (handler: Handler) => {
  const { options } = engineParts({ adapter: check.fake({ script: [] }) })
  const call = { tool: handling("t", handler), toolCall: { id: "c0", name: "t", arguments: {} }, options }
  return StateMachine.bind(toolCallMachine, { call: () => call })
}

/** A driven outlet and what came out of it. */
const drivenOutlet = () => {
  const events: Array<Event> = []
  const outlet = new Outlet()
  outlet.drive((event) => events.push(event))
  return { outlet, events }
}

const bareStep = (parts: Parts) => {
  const { outlet, events } = drivenOutlet()
  const { env, input } = stepStart(parts, outlet)
  return { machine: StateMachine.bind(stepMachine, env), input, events }
}

test.each([
  ["completed", () => ok(1)],
  ["failed", () => error("no")],
  ["completed", () => Promise.resolve(ok(1))]
] as const)("a tool call ends %s under a bare actor", async (state, handler) => {
  const actor = createActor(callMachine(handler), { input: callInput }).start()
  expect(actor.getSnapshot().value).toBe("queued")
  actor.send({ type: "call.start" })
  const snapshot = await waitFor(actor, ({ status }) => status === "done")
  expect(snapshot.value).toBe(state)
  expect(snapshot.output?.type).toBe("returned")
})

test("a tool call is cancelled under a bare actor, and its handler is aborted", async () => {
  let signal: AbortSignal | undefined
  const deaf: Handler = (_args, context) => {
    ;({ signal } = context)
    return new Promise(() => {})
  }
  const actor = createActor(callMachine(deaf), { input: callInput }).start()
  actor.send({ type: "call.start" })
  actor.send({ type: "call.cancel" })
  const snapshot = await waitFor(actor, ({ status }) => status === "done")
  expect([snapshot.value, signal?.aborted]).toEqual(["abandoned", true])
})

test("a tool call's handler can be provided", async () => {
  const provided = toolCallMachine.provide({
    actors: {
      handler: fromCallback(({ sendBack }) =>
        sendBack({ type: "handler.settled", result: held(ok("provided")), failed: false, byHandler: true, began: true })
      )
    }
  })
  const actor = createActor(provided, { input: callInput }).start()
  actor.send({ type: "call.start" })
  const snapshot = await waitFor(actor, ({ status }) => status === "done")
  expect(snapshot.output).toMatchObject({ type: "returned", result: { json: { $result: { value: "provided" } } } })
})

test("a model request runs under a bare actor, and stopping it releases it", async () => {
  const adapter = handAdapter()
  const { options } = engineParts({ adapter })
  const machine = () => {
    const request = { messages: [], tools: [] }
    const { outlet } = drivenOutlet()
    const sent: RunnableRequest = { adapter, request, options, collector: new StreamCollector(), outlet }
    return StateMachine.bind(adapterStreamMachine, { request: () => sent })
  }
  const read = createActor(machine()).start()
  adapter.streams[0]?.text("a")
  adapter.streams[0]?.end()
  expect((await waitFor(read, ({ status }) => status === "done")).output).toEqual({ type: "exhausted" })
  const left = createActor(machine()).start()
  left.stop()
  await hop()
  expect(adapter.streams.map(({ returns }) => returns)).toEqual([0, 1])
})

test("a step runs under a bare actor, with processes of its own behind it", async () => {
  const { machine, input, events } = bareStep({ adapter: check.fake({ script: calls("echo") }), tools: [echo] })
  const actor = createActor(machine, { input }).start()
  const snapshot = await waitFor(actor, ({ status }) => status === "done")
  expect(outputOf(snapshot.output)).toMatchObject({
    type: "stepped",
    result: { toolResults: [{ toolCallId: "c0" }] }
  })
  expect(tagsOf(events).at(-1)).toBe("step_completed")
})

test("a step is cancelled under a bare actor, in phase A and in phase B", async () => {
  const inA = bareStep({ adapter: check.fake({ script: [{ text: "a" }, { hang: true }] }) })
  const inB = bareStep({
    adapter: check.fake({ script: calls("t") }),
    tools: [handling("t", () => new Promise(() => {}))],
    options: { drainMs: 0 }
  })
  for (const [{ machine, input }, phase] of [
    [inA, "phaseA"],
    [inB, "phaseB"]
  ] as const) {
    const actor = createActor(machine, { input }).start()
    await until(() => phaseOf(actor.getSnapshot()) === phase)
    await hop()
    actor.send({ type: "turn.cancel" })
    const snapshot = await waitFor(actor, ({ status }) => status === "done")
    expect(outputOf(snapshot.output)).toMatchObject({ result: { halt: { type: "cancelled" } } })
  }
})

test("a stopped step releases its request", async () => {
  const adapter = check.fake({ script: [{ text: "a" }, { hang: true }] })
  const { machine, input } = bareStep({ adapter })
  const actor = createActor(machine, { input }).start()
  await hop()
  actor.stop()
  await until(() => adapter.released === 1)
  expect(adapter.open).toBe(0)
})

test("a chat asks its hooks under a bare actor, and a cancel does not wait for them", async () => {
  const events: Array<Event> = []
  let asked: AbortSignal | undefined
  const hooks: Hooks = {
    PreIteration: [
      (_, { signal }) => {
        asked = signal
        return new Promise(() => {})
      }
    ]
  }
  const { engine } = engineParts({ adapter: check.fake({ script: says("never") }) })
  const machine = provide(engine, { hooks, published: (event) => events.push(event) })
  const actor = createActor(machine, { input: { id: "c", turn: { id: "t", messages: hi } } }).start()
  await until(() => asked !== undefined)
  actor.send({ type: "turn.cancel" })
  await waitFor(actor, ({ status }) => status === "done")
  expect([tagsOf(events), asked?.aborted]).toEqual([["chat_completed"], true])
})

test("a chat runs under a bare actor, turn after turn", async () => {
  const parts: Parts = { adapter: check.fake({ scripts: [...callThenAnswer, says("again")] }), tools: [echo] }
  const events: Array<Event> = []
  const machine = provide(engineParts(parts).engine, { published: (event) => events.push(event) })
  const actor = createActor(machine, { input: { id: "c" } }).start()
  for (const text of ["one", "two"]) {
    actor.send({ type: "turn.start", turn: { messages: [user(text)] } })
    await waitFor(actor, ({ value }) => value === "idle")
    expect(tagsOf(events).at(-1)).toBe("chat_completed")
  }
  expect(actor.getSnapshot().context.record.thread.messages).toHaveLength(6)
  actor.stop()
})

test("a chat stores its records under a bare actor", async () => {
  const parts: Parts = { adapter: check.fake({ script: says("x") }) }
  const kept: Array<number> = []
  const machine = provide(engineParts(parts).engine, {
    commit: async ({ thread }) => void kept.push(thread.messages.length)
  })
  const actor = createActor(machine, { input: { id: "c" } }).start()
  actor.send({ type: "turn.start", turn: { messages: [user("go")] } })
  await waitFor(actor, ({ value }) => value === "idle")
  expect(kept).toEqual([1, 2])
  actor.stop()
})

test("a chat shows the text of its reply while it streams, under a bare actor", async () => {
  const adapter = handAdapter()
  const actor = createActor(provide(engineParts({ adapter }).engine), { input: { id: "c" } }).start()
  actor.send({ type: "turn.start", turn: { messages: [user("go")] } })
  await until(() => adapter.streams.length === 1)
  adapter.streams[0]?.text("Once upon")
  const { context } = await waitFor(actor, (snapshot) => snapshot.context.partial.text !== "")
  expect([context.partial.text, context.record.thread.messages.length]).toEqual(["Once upon", 1])
  adapter.streams[0]?.end()
  const ended = await waitFor(actor, ({ value }) => value === "idle")
  expect(ended.context.partial.text).toBe("")
  actor.stop()
})

test("BARE3 the calls of the running step are in the context, while they stream and while they run", async () => {
  const { system, clock } = check.system()
  const adapter = handAdapter()
  const ended = Promise.withResolvers<void>()
  const tools = [
    handling("slow", () => new Promise(() => {})),
    handling("quick", () => ended.promise.then(() => ok("done")))
  ]
  const machine = provide(engineParts({ adapter, tools }).engine, { system, maxConcurrency: 2 })
  const actor = createActor(machine, { input: { id: "c" }, clock }).start()
  const shown: Array<ReturnType<typeof actor.getSnapshot>["context"]["partial"]> = []
  actor.subscribe(({ context: { partial } }) => {
    if (shown.at(-1) !== partial) shown.push(partial)
  })
  const states = () => shown.at(-1)?.calls.map(({ status, ...call }) => [call.id, call.name, status, call.outcome])
  actor.send({ type: "turn.start", turn: { messages: [user("go")] } })
  await clock.advance(0)
  const [stream] = adapter.streams
  if (stream === undefined) throw new Error("no request was sent")
  stream.say({ type: "tool_call_started", id: "c0", name: "slow" })
  await clock.advance(32)
  expect(states()).toEqual([["c0", "slow", "queued", undefined]])
  const before = shown.length
  for (const argumentsDelta of "{}") stream.say({ type: "tool_call_delta", id: "c0", argumentsDelta })
  await clock.advance(100)
  expect(shown.length).toBe(before)
  const streaming = shown.at(-1)?.calls
  stream.text("So")
  await clock.advance(32)
  expect([shown.at(-1)?.text, shown.at(-1)?.calls === streaming]).toEqual(["So", true])
  for (const [id, name] of [
    ["c0", "slow"],
    ["c1", "quick"]
  ] as const) {
    stream.say({ type: "tool_call_completed", id, name, arguments: {}, rawArguments: "{}" })
  }
  stream.finish("tool_calls")
  await clock.advance(32)
  expect(states()).toEqual([
    ["c0", "slow", "running", undefined],
    ["c1", "quick", "running", undefined]
  ])
  ended.resolve()
  await clock.advance(32)
  expect(states()).toEqual([
    ["c0", "slow", "running", undefined],
    ["c1", "quick", "done", "completed"]
  ])
  expect(JSON.parse(JSON.stringify(shown))).toEqual(shown)
  actor.send({ type: "turn.cancel" })
  await clock.advance(10_000)
  expect([actor.getSnapshot().value, states()]).toEqual(["idle", []])
  actor.stop()
})

test("a bare actor asks for permission before a tool runs, and its clock is the system's", async () => {
  const { system, clock } = check.system()
  let ran = 0
  const tools = [handling("t", () => ok(++ran))]
  const { engine } = engineParts({ adapter: check.fake({ scripts: [calls("t"), says("done")] }), tools })
  const machine = provide(engine, { system, permissions: { ask: () => ({ type: "suspend" }) } })
  const actor = createActor(machine, { input: { id: "c" }, clock }).start()
  actor.send({ type: "turn.start", turn: { messages: [user("go")] } })
  await clock.advance(0)
  expect([actor.getSnapshot().value, ran]).toEqual(["awaitingApproval", 0])
  const decisions = [{ toolCallId: "c0", decision: { type: "allow" as const } }]
  actor.send({ type: "turn.start", turn: { messages: [], decisions } })
  await clock.advance(0)
  expect([actor.getSnapshot().value, ran]).toEqual(["idle", 1])
  actor.stop()
})

test("a deadline of a tool call under a bare actor passes on the system's clock", async () => {
  const { system, clock } = check.system()
  const tools = [handling("t", () => new Promise(() => {}))]
  const { engine } = engineParts({ adapter: check.fake({ scripts: [calls("t"), says("done")] }), tools })
  const machine = provide(engine, { system, toolTimeoutMs: 50 })
  const actor = createActor(machine, { input: { id: "c" }, clock }).start()
  actor.send({ type: "turn.start", turn: { messages: [user("go")] } })
  await clock.advance(49)
  expect(actor.getSnapshot().value).not.toBe("idle")
  await clock.advance(1)
  expect(actor.getSnapshot().context.record.thread.messages[2]).toMatchObject({ outcome: "timed_out" })
  actor.stop()
})

test("KEY2 a handler that runs again after a restore has the same idempotency key", async () => {
  const keys: Array<string> = []
  const charge = handling("charge", async (_, { idempotencyKey }) => {
    keys.push(idempotencyKey)
    return keys.length === 1 ? new Promise<never>(() => {}) : ok("charged")
  })
  const machine = () =>
    provide(
      engineParts({
        adapter: check.fake({ respond: ({ messages }) => (messages.length === 1 ? calls("charge") : says("done")) }),
        tools: [charge]
      }).engine
    )
  const first = createActor(machine(), { input: { id: "c" } }).start()
  first.send({ type: "turn.start", turn: { messages: [user("go")] } })
  await until(() => keys.length === 1)
  const snapshot = JSON.parse(JSON.stringify(first.getPersistedSnapshot())) as Snapshot<unknown>
  first.stop()
  const next = createActor(machine(), { input: { id: "c" }, snapshot }).start()
  await waitFor(next, ({ value }) => value === "idle")
  next.stop()
  expect(keys).toHaveLength(2)
  expect(new Set(keys).size).toBe(1)
})

test("BARE2 a chat that continues from a stored record asks about a write that had started", async () => {
  let ran = 0
  const charge = handling("charge", () => (++ran === 1 ? new Promise<never>(() => {}) : ok("charged")))
  const records: Array<string> = []
  const commit = async (record: Conversation) => void records.push(JSON.stringify(record))
  const { engine } = engineParts({ adapter: check.fake({ scripts: [calls("charge"), says("done")] }), tools: [charge] })
  const first = createActor(provide(engine, { commit }), { input: { id: "c" } }).start()
  first.send({ type: "turn.start", turn: { messages: [user("go")] } })
  await until(() => ran === 1)
  first.stop()
  const record = JSON.parse(records.at(-1) ?? "") as Conversation
  const input = environment(engine, { commit }).restore(record)
  const next = createActor(provide(engine, { commit }), { input }).start()
  expect(next.getSnapshot().value).toBe("awaitingApproval")
  expect(next.getSnapshot().context.record.open?.calls).toMatchObject([{ state: "waiting", kind: "unknown_outcome" }])
  await hop()
  expect(ran).toBe(1)
  const decisions = [{ toolCallId: "c0", decision: { type: "allow" as const } }]
  next.send({ type: "turn.start", turn: { messages: [], decisions } })
  await waitFor(next, ({ value }) => value === "idle")
  expect(ran).toBe(2)
  expect(next.getSnapshot().context.record.thread.messages.at(-1)).toMatchObject({ content: "done" })
  next.stop()
})

test("two actors of one provided machine are two chats", async () => {
  const machine = provide(engineParts({ adapter: check.fake({ respond: () => says("hello") }) }).engine)
  const actors = ["x", "y"].map((id) => createActor(machine, { input: { id } }).start())
  for (const actor of actors) actor.send({ type: "turn.start", turn: { messages: [user("hi")] } })
  for (const actor of actors) {
    const { context } = await waitFor(actor, (snapshot) => snapshot.context.record.lastHaltedReason !== undefined)
    expect(context.record.thread.messages).toHaveLength(2)
    actor.stop()
  }
})

test("an observer of events that throws is reported, and does not stop the turn", async () => {
  const { system } = check.system()
  const failures: Array<unknown> = []
  Telemetry.attach(system, "published.failure", ({ metadata }) => void failures.push(metadata.error))
  const published = () => {
    throw new Error("boom")
  }
  const { engine } = engineParts({ adapter: check.fake({ script: says("x") }) })
  const actor = createActor(provide(engine, { published, system }), { input: { id: "c" } }).start()
  actor.send({ type: "turn.start", turn: { messages: [user("hi")] } })
  await waitFor(actor, ({ value }) => value === "idle")
  expect(failures.length).toBeGreaterThan(0)
  actor.stop()
})

test("a stored snapshot of an earlier version is refused, with what to do instead", async () => {
  const snapshot = { status: "active", value: { running: "stepping" }, context: { id: "c", once: false }, children: {} }
  const stored = snapshot as unknown as Snapshot<unknown>
  const { engine } = engineParts({ adapter: check.fake({ script: says("x") }) })
  const refusal = expect.objectContaining({
    reason: "undecodable",
    message: expect.stringContaining("environment(engine).restore(record)")
  })
  expect(() => StateMachine.start(check.system().system, chatMachine, { snapshot: stored })).toThrow(refusal)
  const actor = createActor(provide(engine), { input: { id: "c" }, snapshot: stored })
  const seen: Array<unknown> = []
  actor.subscribe({ error: (thrown) => void seen.push(thrown) })
  actor.start()
  expect(seen).toEqual([refusal])
})
