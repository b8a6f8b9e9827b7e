import { Effect, Fiber } from "effect"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Clock, GenServer, Process, Registry, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { flush, inProcess } from "../double/inProcess.ts"

let system: System.System
let clock: Clock.TestClock

beforeEach(() => {
  clock = Clock.test()
  system = System.make({ clock })
})

afterEach(async () => {
  await System.stop(system)
  expect([System.stats(system), clock.pending]).toEqual([{ processes: 0, fibers: 0, timers: 0, closing: 0 }, 0])
})

/** A server that says its word after a time, to a call, and remembers its casts. */
const parrot = GenServer.make({
  init: (args: { readonly word: string; readonly ms?: number }) => GenServer.ok({ ...args, seen: [] as Array<string> }),
  handleCall: (_request: "speak", _from, state) =>
    Effect.sleep(state.ms ?? 0).pipe(Effect.as(GenServer.replying([state.word, ...state.seen], state))),
  handleCast: (message: string, state) => void state.seen.push(message)
})

const start = (word: string, ms?: number, options?: GenServer.StartOptions) =>
  GenServer.start(system, parrot, { word, ...(ms === undefined ? {} : { ms }) }, options)

const failure = (target: unknown, reason: unknown) => ({
  target,
  error: expect.objectContaining({ _tag: "CallExit", reason, in: "GenServer.multiCall" })
})

test("MULTI1 replies and failures come in the order of the servers, whoever was first", async () => {
  const [slow, quick, dead] = [await start("slow", 20), await start("quick", 10), await start("dead")]
  Process.kill(dead)
  const nobody = Process.named(system, "nobody")
  const asked = GenServer.multiCall([dead, slow, nobody, quick], "speak")
  await clock.advance(20)
  expect(await asked).toEqual({
    replies: [
      { target: slow, reply: ["slow"] },
      { target: quick, reply: ["quick"] }
    ],
    failures: [failure(dead, "noproc"), failure(nobody, "noproc")]
  })
})

test("a server is asked by its pid, its name or its key", async () => {
  const registry = await Registry.start(system)
  const targets = [await start("pid"), Process.named(system, "name"), Registry.via(registry, "key")] as const
  await start("name", 0, { name: "name" })
  await start("key", 0, { via: targets[2] })
  const { replies } = await GenServer.multiCall(targets, "speak")
  expect(replies.map(({ reply }) => reply)).toEqual([["pid"], ["name"], ["key"]])
})

test("there is one time for all, 5 seconds by default, and late replies leave nothing behind", async () => {
  const [quick, late] = [await start("quick", 4999), await start("late", 5001)]
  const running = inProcess(system, async (self) => {
    const outcome = await GenServer.multiCall([quick, late], "speak")
    await Process.receive(self, { timeout: 100, match: () => false })
    Process.kill(late)
    return [outcome, await flush(self)]
  })
  await clock.advance(5000)
  await clock.advance(100)
  expect(await running).toEqual([
    { replies: [{ target: quick, reply: ["quick"] }], failures: [failure(late, "timeout")] },
    []
  ])
})

test("a server that ends fails with its reason, and the others are waited for", async () => {
  const [one, two] = [await start("one", 10), await start("two", 10)]
  const asked = GenServer.multiCall([one, two], "speak")
  await hop()
  Process.exit(one, "boom")
  await clock.advance(10)
  expect(await asked).toEqual({
    replies: [{ target: two, reply: ["two"] }],
    failures: [failure(one, "boom")]
  })
})

test("no servers is no replies", async () => {
  expect(await GenServer.multiCall([], "speak")).toEqual({ replies: [], failures: [] })
})

test("a caller that is one of the servers fails there, and is not asked", async () => {
  const other = await start("other")
  const caller = GenServer.make({
    init: () => GenServer.ok(null),
    handleCall: (_request: "speak", _from, state, self: Pid) =>
      GenServer.multiCall([self as typeof other, other], "speak", { from: self }).then((outcome) =>
        GenServer.replying(outcome, state)
      )
  })
  const pid = await GenServer.start(system, caller, undefined)
  expect(await GenServer.call(pid, "speak")).toEqual({
    replies: [{ target: other, reply: ["other"] }],
    failures: [failure(pid, "calling_self")]
  })
})

test("the effect gives the same, and interrupting it drops the calls", async () => {
  const [one, two] = [await start("one"), await start("two", 1000)]
  expect(await Effect.runPromise(GenServer.multiCallEffect([one], "speak"))).toEqual({
    replies: [{ target: one, reply: ["one"] }],
    failures: []
  })
  const fiber = Effect.runFork(GenServer.multiCallEffect([one, two], "speak"))
  await hop()
  expect(System.stats(system).timers).toBe(1)
  await Effect.runPromise(Fiber.interrupt(fiber))
  expect(System.stats(system).timers).toBe(0)
})

test("abcast sends to each server, and skips a name that no server has", async () => {
  const [one, two] = [await start("one"), await start("two")]
  GenServer.abcast([one, Process.named(system, "nobody"), two], "hello")
  expect(await GenServer.call(one, "speak")).toEqual(["one", "hello"])
  expect(await GenServer.call(two, "speak")).toEqual(["two", "hello"])
})
