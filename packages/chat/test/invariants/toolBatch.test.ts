import { type Pid, Process, System } from "@troupe/otp"
import { expect, test } from "vitest"
import * as Engine from "../../src/options/Engine.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import type { Event } from "../../src/events/Event.ts"
import { askUser, halt, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import type { ToolCallView } from "../../src/call/toolCallView.ts"
import { newCalls } from "../../src/batch/batchCalls.ts"
import { startBatchOf } from "../double/batching.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processOf, processesOf } from "../double/processes.ts"
import { handling } from "../double/scripts.ts"

const check = leakCheck()

/** A batch of calls that a test finishes; the call `x` names no tool. */
const startBatch = (names: ReadonlyArray<string>, options: ChatOptions = {}, driven = true) => {
  const { system, clock } = check.system()
  const gates = new Map(names.map((name) => [name, Promise.withResolvers<HandlerResult>()]))
  const started: Array<string> = []
  const tools = names
    .filter((name) => name !== "x")
    .map((name) =>
      handling(name, () => {
        started.push(name)
        return gates.get(name)?.promise ?? ok(1)
      })
    )
  const outlet = new Outlet()
  const events: Array<Event> = []
  if (driven) outlet.drive((event) => events.push(event))
  let view: () => ReadonlyArray<ToolCallView> = () => []
  const resolved = resolveOptions(Engine.make({ tools }), options)
  const { pid, output } = startBatchOf(system, {
    calls: newCalls(
      names.map((name) => ({ id: name, name, arguments: {} })),
      resolved
    ),
    toolsByName: resolved.toolsByName,
    options: resolved,
    outlet,
    watcher: { toolCallsChanged: (now) => (view = now) }
  })
  return {
    system,
    clock,
    pid,
    outlet,
    events,
    started,
    statuses: () => view().map(({ id, status }) => `${id} ${status}`),
    finish: async (name: string, result: HandlerResult = ok(name)) => {
      gates.get(name)?.resolve(result)
      await clock.advance(0)
    },
    result: output
  }
}

const settle = ({ clock }: ReturnType<typeof startBatch>) => clock.advance(0)

test("BATCH1 every call has one outcome, in its own position, whatever its process does", async () => {
  const batch = startBatch(["a", "x", "b", "c"])
  await settle(batch)
  Process.kill(processOf(batch.system, "ToolCall b"))
  await batch.finish("c")
  await batch.finish("a")
  expect(batch.result()?.outcomes.map(({ message }) => message)).toMatchObject([
    { toolCallId: "a", content: "a" },
    { toolCallId: "x", content: expect.stringContaining("not_found") as string },
    { toolCallId: "b", content: expect.stringContaining("handler_exit") as string },
    { toolCallId: "c", content: "c" }
  ])
  expect(Process.exitReason(batch.pid)).toBe("normal")
})

test("SCHED8 a halt neither cancels nor skips siblings; the first in call order counts", async () => {
  const batch = startBatch(["a", "b", "c"], { maxConcurrency: 2 })
  await settle(batch)
  await batch.finish("b", halt("second", 2))
  expect(batch.started).toEqual(["a", "b", "c"])
  await batch.finish("c", askUser("q"))
  await batch.finish("a", halt("first", 1))
  expect(batch.result()).toMatchObject({ halt: { reason: "first" }, outcomes: [{}, {}, {}] })
})

test("BATCH3 the events of a call come together, when it is over", async () => {
  const batch = startBatch(["a", "b"])
  await settle(batch)
  expect(batch.events).toEqual([])
  await batch.finish("b")
  expect(batch.events.map((event) => ("id" in event ? event.id : ""))).toEqual(["b", "b", "b"])
  await batch.finish("a")
  expect(batch.events).toHaveLength(6)
})

test("BATCH4 after a cancel no call starts; running ones are aborted and drained", async () => {
  const batch = startBatch(["a", "b", "c"], { maxConcurrency: 1, drainMs: 10 })
  await settle(batch)
  Process.send(batch.pid, { type: "turn.cancel" })
  Process.send(batch.pid, { type: "turn.cancel" })
  await settle(batch)
  expect(batch.statuses()).toEqual(["a cancelling", "b done", "c done"])
  expect(batch.result()).toBeUndefined()
  await batch.clock.advance(10)
  expect(batch.started).toEqual(["a"])
  expect(batch.result()).toMatchObject({ halt: { type: "cancelled" }, outcomes: [{}, {}, {}] })
})

test("BATCH5 the batch is done when every call is over and the reader asked past the last event", async () => {
  const batch = startBatch(["a"], {}, false)
  await settle(batch)
  await batch.finish("a")
  for (let read = 0; read < 3; read++) await batch.outlet.next()
  expect(Process.isAlive(batch.pid)).toBe(true)
  void batch.outlet.next()
  await settle(batch)
  expect(batch.result()).toMatchObject({ outcomes: [{}] })
  batch.outlet.close()
})

test("BATCH5 an empty batch is done at once", async () => {
  const batch = startBatch([])
  await settle(batch)
  expect(batch.result()).toEqual({ outcomes: [], halt: undefined, suspended: [] })
})

test("killing the batch ends its calls", async () => {
  const batch = startBatch(["a", "b"])
  await settle(batch)
  const pids: ReadonlyArray<Pid> = processesOf(batch.system, "ToolCall")
  expect(pids).toHaveLength(2)
  Process.kill(batch.pid)
  await settle(batch)
  expect(pids.map(Process.isAlive)).toEqual([false, false])
  expect([...System.processes(batch.system)].map(({ label }) => label)).toEqual(["Zombie a, 0 ms", "Zombie b, 0 ms"])
})

test("what can be seen of a call goes from queued over running to done", async () => {
  const batch = startBatch(["a", "b"], { maxConcurrency: 1 })
  await settle(batch)
  expect(batch.statuses()).toEqual(["a running", "b queued"])
  await batch.finish("a")
  expect(batch.statuses()).toEqual(["a done", "b running"])
  await batch.finish("b")
  expect(batch.statuses()).toEqual(["a done", "b done"])
})
