import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { Event } from "../../src/events/Event.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf } from "../double/processes.ts"
import { calls, echo, handling, tagsOf } from "../double/scripts.ts"
import { startStep } from "../double/stepping.ts"

const check = leakCheck()

const order = (tag: Event["type"]): number => {
  if (tag === "step_completed") return 2
  return tag.startsWith("tool_execution") || tag === "tool_result_encoded" ? 1 : 0
}

test("STEP1 adapter events come before tool events, and those before the one `step_completed`", async () => {
  const { system, clock } = check.system()
  const adapter = check.fake({ script: calls("echo", "echo", "echo") })
  const { outlet } = startStep(system, { adapter, tools: [echo] })
  const events: Array<Event> = []
  outlet.drive((event) => events.push(event))
  await clock.advance(0)
  const places = tagsOf(events).map(order)
  expect(places).toEqual(places.toSorted((left, right) => left - right))
  expect(tagsOf(events).filter((tag) => tag === "step_completed")).toHaveLength(1)
})

test("STEP2 phase B begins when the reader asks past the last adapter event, not on what an event says", async () => {
  const { system, clock } = check.system()
  const adapter = handAdapter()
  let ran = 0
  const { outlet, value } = startStep(system, { adapter, tools: [handling("t", () => ok(++ran))] })
  const [stream] = adapter.streams
  stream?.say({ type: "tool_call_completed", id: "c0", name: "t", arguments: {}, rawArguments: "{}" })
  stream?.say({ type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "tool_calls" })
  stream?.say({ type: "raw_chunk", chunk: { type: "usage", usage: { inputTokens: 1 } } })
  for (let read = 0; read < 3; read++) await outlet.next()
  await clock.advance(1_000)
  expect([value(), ran]).toEqual(["phaseA", 0])
  stream?.end()
  void outlet.next()
  await clock.advance(0)
  expect([value(), ran]).toEqual(["phaseB", 1])
  void outlet.next()
  void outlet.next()
  void outlet.next()
  void outlet.next()
  await clock.advance(0)
  expect(value()).toBe("ended")
  outlet.close()
})

test("STEP3 leaving phase A or B releases what it held, once", async () => {
  const inA = check.system()
  const adapter = handAdapter()
  const stepInA = startStep(inA.system, { adapter })
  void stepInA.outlet.next()
  Process.kill(stepInA.pid)
  await inA.clock.advance(0)
  expect(adapter.streams[0]?.returns).toBe(1)
  stepInA.outlet.close()

  const inB = check.system()
  let signal: AbortSignal | undefined
  const stuck = handling("t", (_args, context) => {
    ;({ signal } = context)
    return new Promise(() => {})
  })
  const stepInB = startStep(inB.system, { adapter: check.fake({ script: calls("t") }), tools: [stuck] })
  stepInB.outlet.drive(() => {})
  await inB.clock.advance(0)
  expect(stepInB.value()).toBe("phaseB")
  Process.kill(stepInB.pid)
  await inB.clock.advance(0)
  expect(signal?.aborted).toBe(true)
  expect(processesOf(inB.system, "").map(({ label }) => label)).toEqual(["Zombie t, 0 ms"])
})

test("STEP4 a step cancelled in phase A ends at once with its `step_completed`", async () => {
  const { system, clock } = check.system()
  const adapter = handAdapter()
  const { pid, outlet, output } = startStep(system, { adapter })
  const events: Array<Event> = []
  outlet.drive((event) => events.push(event))
  adapter.streams[0]?.text("par")
  await clock.advance(0)
  Process.send(pid, { type: "turn.cancel" })
  Process.send(pid, { type: "turn.cancel" })
  await clock.advance(0)
  expect(tagsOf(events)).toEqual(["text_delta", "step_completed"])
  expect(output()).toMatchObject({ type: "stepped", result: { done: true, halt: { type: "cancelled" } } })
})

test("STEP4 a step cancelled in phase B ends when its calls have, or their drain deadline passed", async () => {
  const { system, clock } = check.system()
  const deaf = handling("t", () => new Promise(() => {}))
  const adapter = check.fake({ script: calls("t") })
  const { pid, outlet, output, value } = startStep(system, { adapter, tools: [deaf], options: { drainMs: 10 } })
  outlet.drive(() => {})
  await clock.advance(0)
  Process.send(pid, { type: "turn.cancel" })
  await clock.advance(9)
  expect(value()).toBe("phaseB")
  await clock.advance(1)
  expect(output()).toMatchObject({ result: { halt: { type: "cancelled" }, toolResults: [{ toolCallId: "c0" }] } })
})

test("STEP5 a refused request is a refused step, without an event", async () => {
  const { system, clock } = check.system()
  const events: Array<Event> = []
  const adapter = check.fake({ script: [{ preflightError: "authentication_failed" }] })
  const { outlet, output, value } = startStep(system, { adapter })
  outlet.drive((event) => events.push(event))
  await clock.advance(0)
  expect(value()).toBe("ended")
  expect(output()).toMatchObject({ type: "refused", error: { reason: "authentication_failed" } })
  expect(output()).toHaveProperty("error", expect.any(AdapterError))
  expect(events).toEqual([])
})
