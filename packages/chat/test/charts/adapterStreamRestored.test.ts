/** A request's chart from a stored snapshot, in a process and under a bare actor. */
import { StateMachine } from "@troupe/otp"
import { expect, test, vi } from "vitest"
import { Actor, createActor, SimulatedClock, type Snapshot, waitFor } from "xstate"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { Event } from "../../src/events/Event.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import * as Engine from "../../src/options/Engine.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import { adapterStreamMachine } from "../../src/request/AdapterStreamMachine.ts"
import type { RunnableRequest } from "../../src/request/requestEnv.ts"
import { original } from "../../src/values/held.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { says, tagsOf } from "../double/scripts.ts"

const check = leakCheck()

const answer = ["message_started", "text_delta", "text_completed", "message_completed"]

/** An adapter that says nothing for ever. */
const slow: Adapter = { name: "slow", stream: () => new Promise(() => {}) }

const refusing = (thrown: AdapterError): Adapter => ({ name: "refusing", stream: () => Promise.reject(thrown) })

/** The environment of a request, and the events that come out of it. */
const sending = (adapter: Adapter, fallbacks: ReadonlyArray<Adapter> = [], maxAttempts = 2) => {
  const events: Array<Event> = []
  const outlet = new Outlet()
  outlet.drive((event) => events.push(event))
  const options = resolveOptions(Engine.make({ adapter, fallbacks }), {
    retry: { maxAttempts, baseDelayMs: 100, jitterMs: 0 }
  })
  const request = { messages: [], tools: [] }
  const sent: RunnableRequest = { adapter, request, options, collector: new StreamCollector(), outlet }
  return { env: { request: () => sent }, events }
}

const stored = (snapshot: Snapshot<unknown>): Snapshot<unknown> => JSON.parse(JSON.stringify(snapshot))

/** The stored snapshot of a request in a process, at rest in a state. */
const storedIn = async (state: "opening" | "waiting", adapter: Adapter, fallbacks: ReadonlyArray<Adapter> = []) => {
  const { system, clock } = check.system()
  const { env } = sending(adapter, fallbacks)
  const pid = StateMachine.start(system, adapterStreamMachine, { env })
  await clock.advance(0)
  expect(StateMachine.snapshot(pid).value).toBe(state)
  const snapshot = stored(StateMachine.persisted(pid))
  StateMachine.stop(pid)
  await clock.advance(0)
  return snapshot
}

test("STREAM6 a process restored in `opening` makes the attempt again, at the same fallback", async () => {
  const snapshot = await storedIn("opening", refusing(new AdapterError("authentication_failed")), [slow])
  const { system, clock } = check.system()
  const { env, events } = sending(slow, [check.fake({ script: says("yes") })])
  const pid = StateMachine.start(system, adapterStreamMachine, { env, snapshot })
  await clock.advance(0)
  expect(StateMachine.output(pid)).toEqual({ type: "exhausted" })
  expect(tagsOf(events)).toEqual(answer)
  expect(events[0]).toMatchObject({ metadata: { fallback: { index: 0 } } })
})

test("STREAM6 a process restored in `waiting` sends nothing before the delay is over", async () => {
  const snapshot = await storedIn("waiting", refusing(new AdapterError("timeout")))
  const { system, clock } = check.system()
  const fake = check.fake({ script: says("yes") })
  const { env, events } = sending(fake)
  const pid = StateMachine.start(system, adapterStreamMachine, { env, snapshot })
  await clock.advance(99)
  expect([StateMachine.snapshot(pid).value, fake.requests.length]).toEqual(["waiting", 0])
  await clock.advance(1)
  await clock.advance(0)
  expect(StateMachine.output(pid)).toEqual({ type: "exhausted" })
  expect(tagsOf(events)).toEqual(answer)
})

test("STREAM6 a bare actor restored in `opening` makes the attempt again", async () => {
  const first = createActor(StateMachine.bind(adapterStreamMachine, sending(slow).env)).start()
  const snapshot = stored(first.getPersistedSnapshot())
  first.stop()
  const { env, events } = sending(check.fake({ script: says("yes") }))
  const machine = StateMachine.bind(adapterStreamMachine, env)
  const actor = createActor(machine, { snapshot }).start()
  expect(actor.getSnapshot().value).toBe("streaming")
  await waitFor(actor, ({ status }) => status === "done")
  expect(tagsOf(events)).toEqual(answer)
})

test("STREAM6 a bare actor restored in `waiting` makes the next attempt after the delay", async () => {
  const refusal = new AdapterError("timeout")
  const refused = StateMachine.bind(adapterStreamMachine, sending(refusing(refusal)).env)
  const first = createActor(refused, { clock: new SimulatedClock() }).start()
  await waitFor(first, ({ value }) => value === "waiting")
  const snapshot = stored(first.getPersistedSnapshot())
  first.stop()
  const fake = check.fake({ script: says("yes") })
  const { env, events } = sending(fake)
  const clock = new SimulatedClock()
  const actor = createActor(StateMachine.bind(adapterStreamMachine, env), { snapshot, clock }).start()
  clock.increment(99)
  expect([actor.getSnapshot().value, fake.requests.length]).toEqual(["waiting", 0])
  clock.increment(1)
  await waitFor(actor, ({ status }) => status === "done")
  expect([actor.getSnapshot().context.attempt, fake.requests.length]).toEqual([2, 1])
  expect(tagsOf(events)).toEqual(answer)
})

test("a request is refused with the error that the adapter threw, and after JSON with an equal error", async () => {
  const thrown = new AdapterError("authentication_failed", { status: 401, metadata: { at: "login" } })
  const { system, clock } = check.system()
  const pid = StateMachine.start(system, adapterStreamMachine, { env: sending(refusing(thrown)).env })
  await clock.advance(0)
  const output = StateMachine.output(pid)
  if (output?.type !== "refused") throw new Error("the request is not refused")
  expect(original(output.error)).toBe(thrown)
  const read = original<unknown>(JSON.parse(JSON.stringify(output.error)))
  expect(read).toBeInstanceOf(AdapterError)
  expect(read).toMatchObject({ reason: "authentication_failed", status: 401, metadata: { at: "login" } })
})

test("a request in a process creates no XState actor, through retries, fallbacks and a cancel", async () => {
  const started = vi.spyOn(Actor.prototype, "start")
  try {
    const { system, clock } = check.system()
    const { env } = sending(refusing(new AdapterError("timeout")), [check.fake({ script: says("yes") })])
    const pid = StateMachine.start(system, adapterStreamMachine, { env })
    await clock.advance(10_000)
    expect(StateMachine.output(pid)).toEqual({ type: "exhausted" })
    const cancelled = StateMachine.start(system, adapterStreamMachine, { env: sending(slow).env })
    expect(StateMachine.actor(cancelled)).not.toBeInstanceOf(Actor)
    StateMachine.actor(cancelled).send({ type: "request.cancel" })
    await clock.advance(0)
    expect(StateMachine.output(cancelled)).toEqual({ type: "exhausted" })
    expect(started).not.toHaveBeenCalled()
    createActor(StateMachine.bind(adapterStreamMachine, sending(slow).env))
      .start()
      .stop()
    expect(started).toHaveBeenCalled()
  } finally {
    started.mockRestore()
  }
})
