import { Process, StateMachine } from "@troupe/otp"
import { expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { adapterStreamMachine } from "../../src/request/AdapterStreamMachine.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { original } from "../../src/values/held.ts"
import { handAdapter } from "../double/handAdapter.ts"
import type { RunnableRequest } from "../../src/request/requestEnv.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { engineParts } from "../double/stepping.ts"

const check = leakCheck()

const startStream = (adapter: Adapter) => {
  const { system, clock } = check.system()
  const outlet = new Outlet()
  const { options } = engineParts({ adapter })
  const request = { messages: [], tools: [] }
  const sent: RunnableRequest = { adapter, request, options, collector: new StreamCollector(), outlet }
  const pid = StateMachine.start(system, adapterStreamMachine, { env: { request: () => sent } })
  return { clock, outlet, pid, value: () => StateMachine.snapshot(pid).value, output: () => StateMachine.output(pid) }
}

test("STREAM1 a request read to its end is not returned to", async () => {
  const adapter = handAdapter()
  const { clock, outlet, output } = startStream(adapter)
  adapter.streams[0]?.finish("stop")
  await outlet.next()
  void outlet.next()
  await clock.advance(0)
  expect(output()).toEqual({ type: "exhausted" })
  expect(adapter.streams[0]?.returns).toBe(0)
  outlet.close()
})

test.each(["kill", "shutdown"])("STREAM1 a request whose process ends by %s is released once", async (reason) => {
  const adapter = handAdapter()
  const { clock, outlet, pid } = startStream(adapter)
  void outlet.next()
  Process.exit(pid, reason)
  Process.exit(pid, reason)
  await clock.advance(0)
  expect([adapter.streams[0]?.returns, adapter.streams[0]?.options.signal.aborted]).toEqual([1, true])
  outlet.close()
})

test("STREAM1 a request that opens after its process ended is released as it comes", async () => {
  const hand = handAdapter()
  const gate = Promise.withResolvers<void>()
  const { clock, pid } = startStream({
    name: "slow",
    stream: async (...args) => {
      await gate.promise
      return hand.stream(...args)
    }
  })
  Process.kill(pid)
  gate.resolve()
  await clock.advance(0)
  expect([hand.streams[0]?.returns, hand.streams[0]?.pulls]).toEqual([1, 0])
})

test("STREAM2 a request is open until the reader asked past its last event", async () => {
  const adapter = handAdapter()
  const { clock, outlet, value } = startStream(adapter)
  expect(value()).toBe("streaming")
  adapter.streams[0]?.finish("stop")
  await outlet.next()
  await clock.advance(1_000)
  expect(value()).toBe("streaming")
  void outlet.next()
  await clock.advance(0)
  expect(value()).toBe("exhausted")
  outlet.close()
})

test("STREAM2 a request that cannot be opened is refused, with an adapter error", async () => {
  for (const thrown of [new AdapterError("authentication_failed"), new Error("no"), "no"]) {
    const { clock, output } = startStream({ name: "refusing", stream: () => Promise.reject(thrown) })
    await clock.advance(0)
    const ended = output()
    if (ended?.type !== "refused") throw new Error("the request is not refused")
    const error = original(ended.error)
    expect(error).toMatchObject({ _tag: "AdapterError" })
    expect(thrown instanceof AdapterError ? error : error.cause).toBe(thrown)
  }
})

test("STREAM2 while it opens it is opening, however long", async () => {
  const { clock, pid, value } = startStream({ name: "slow", stream: () => new Promise(() => {}) })
  await clock.advance(1e9)
  expect(value()).toBe("opening")
  Process.kill(pid)
})
