import { Effect } from "effect"
import { expect, test } from "vitest"
import { GenServer, Process, System, SystemMessage, Task, Timer } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { flush } from "../double/inProcess.ts"
import { Storm } from "./storm.ts"

type Ask = "never" | "keep" | { readonly answerIn: number } | { readonly dieIn: number }

/** A server that answers, or dies, so many milliseconds after it was asked. */
const slow = GenServer.make<void, ReadonlyArray<GenServer.From<string>>, Ask, string, never, string>({
  init: () => GenServer.ok([]),
  handleCall: (request, from, state, self) => {
    if (request === "never" || request === "keep") return GenServer.noreply([...state, from])
    if ("answerIn" in request) Timer.sendAfter(self, "answer", request.answerIn)
    else Timer.sendAfter(self, "die", request.dieIn)
    return GenServer.noreply([...state, from])
  },
  handleInfo: (message, state) => {
    if (message === "die") return GenServer.stopping("died", state)
    for (const from of state) GenServer.reply(from, "answered")
    return GenServer.noreply([])
  }
})

const serve = (storm: Storm) => storm.watch(GenServer.spawnLink(storm.ground, slow, undefined))

/** What came of calls, each settled once or never. */
const outcomes = (
  calls: ReadonlyArray<Promise<unknown>>
): { readonly of: (index: number) => ReadonlyArray<unknown> } => {
  const seen = calls.map((): Array<unknown> => [])
  for (const [index, call] of calls.entries()) {
    call.then(
      (value) => seen[index]?.push(value),
      (error: unknown) => seen[index]?.push((error as { readonly reason: unknown }).reason)
    )
  }
  return { of: (index) => seen[index] ?? [] }
}

test("PCALL1 an answer and a timeout due at the same time make one outcome, whichever is first", async () => {
  const storm = new Storm()
  for (const answerIn of [9, 10, 11]) {
    const seen = outcomes([GenServer.call(serve(storm), { answerIn }, { timeout: 10 })])
    await storm.clock.advance(20)
    expect(seen.of(0)).toEqual([answerIn < 10 ? "answered" : "timeout"])
  }
  await storm.over()
})

test("PCALL1 the death of the server and a timeout at the same time make one outcome", async () => {
  const storm = new Storm()
  for (const dieIn of [9, 10, 11]) {
    const server = serve(storm)
    const seen = outcomes([GenServer.call(server, { dieIn }, { timeout: 10 })])
    await storm.clock.advance(20)
    expect(seen.of(0)).toEqual([dieIn < 10 ? "died" : "timeout"])
    expect(Process.exitReason(server)).toBe("died")
  }
  await storm.settled()
  await storm.over()
})

test("PCALL2 a thousand calls that time out in one turn leave no timer, no watcher and no late answer", async () => {
  const storm = new Storm()
  const server = serve(storm)
  const calls = Array.from({ length: 1000 }, () => GenServer.call(server, "keep", { timeout: 10 }))
  const seen = outcomes(calls)
  await storm.clock.advance(10)
  Process.send(server, "answer")
  await hop()
  expect(calls.map((_call, index) => seen.of(index))).toEqual(calls.map(() => ["timeout"]))
  await storm.settled(() => [server])
  await storm.over()
})

test("PCALL2 callers that die while they wait leave nothing at the server, and their answers vanish", async () => {
  const storm = new Storm()
  const server = serve(storm)
  const callers = Array.from({ length: 500 }, () =>
    storm.watch(Process.spawn(storm.system, () => GenServer.call(server, "keep", { timeout: "1 hour" })))
  )
  await hop()
  for (const caller of callers) Process.exit(caller, "boom")
  expect(storm.clock.pending).toBe(0)
  Process.send(server, "answer")
  await storm.settled(() => [server])
  await storm.over()
})

test("PERF3 an effect that calls is killed between question and answer: the call is gone", async () => {
  const storm = new Storm()
  const server = serve(storm)
  const caller = storm.watch(Process.spawn(storm.system, () => GenServer.callEffect(server, "keep")))
  await hop()
  Process.kill(caller)
  expect(Process.exitReason(caller)).toBe("killed")
  await storm.settled(() => [server])
  await storm.over()
})

test("TIMER1 a timer that is cancelled in the turn it is due in is sent before or not at all", async () => {
  const storm = new Storm()
  const seen: Array<unknown> = []
  const running = Process.spawn(storm.system, async (self) => {
    const first = Timer.sendAfter(self, "first", 10)
    const second = Timer.sendAfter(self, "second", 10)
    seen.push(await Process.receive(self), Timer.cancel(second), Timer.cancel(first), await flush(self))
  })
  storm.watch(running)
  await storm.clock.advance(10)
  expect(seen).toEqual(["first", 0, false, []])
  await storm.settled()
  await storm.over()
})

test("TIMER2 a target that dies in the turn its timers are due in takes them along", async () => {
  const storm = new Storm()
  const targets = Array.from({ length: 100 }, () => serve(storm))
  for (const target of targets) {
    Timer.sendAfter(target, "die", 10)
    for (let index = 0; index < 10; index++) Timer.sendAfter(target, "answer", 10 + index)
  }
  await storm.clock.advance(10)
  expect([storm.clock.pending, new Set(targets.map(Process.exitReason))]).toEqual([0, new Set(["died"])])
  await storm.settled()
  await storm.over()
})

test("SERV4 a message in the turn of a state timeout takes its place, and it comes no more", async () => {
  const storm = new Storm()
  const seen: Array<unknown> = []
  const definition = GenServer.make<void, null, never, never, never, string>({
    init: () => GenServer.ok(null, { timeout: 10 }),
    handleInfo: (message, state) => {
      seen.push(message)
      return GenServer.noreply(state)
    }
  })
  const pid = storm.watch(GenServer.spawnLink(storm.ground, definition, undefined))
  Timer.sendAfter(pid, "mail", 10)
  await storm.clock.advance(9)
  Process.send(pid, "early")
  await storm.clock.advance(10)
  expect(seen).toEqual(["early", "mail"])
  await storm.settled(() => [pid])
  await storm.over()
})

test("RECV1 a message and the end of the wait at the same time give one of them, and lose no message", async () => {
  const storm = new Storm()
  for (const after of [9, 10, 11]) {
    const seen: Array<unknown> = []
    const pid = Process.spawn(storm.system, async (self) => {
      seen.push(await Process.receive(self, { timeout: 10 }))
      await Process.receive(self, { match: (message) => message === "go" })
      seen.push(await flush(self))
    })
    storm.watch(pid)
    await hop()
    Timer.sendAfter(pid, "mail", after)
    await storm.clock.advance(20)
    Process.send(pid, "go")
    await hop()
    expect(seen).toEqual(after < 10 ? ["mail", []] : [undefined, ["mail"]])
  }
  await storm.settled()
  await storm.over()
})

test("TASK2 a task that ends in the turn its owner gives it up leaves no reply behind", async () => {
  const storm = new Storm()
  const seen: Array<unknown> = []
  for (const takes of [9, 10, 11]) {
    const owner = Process.spawn(storm.system, async (self) => {
      const task = Task.async(self, () => Effect.sleep(takes).pipe(Effect.as("value")))
      storm.watch(task.pid)
      const outcome = await Task.await(task, { timeout: 10 }).catch(
        (error: { readonly reason: unknown }) => error.reason
      )
      await Process.receive(self, { timeout: 10 })
      seen.push([outcome, await flush(self)])
    })
    storm.watch(owner)
    await storm.clock.advance(40)
  }
  expect(seen).toEqual([
    ["value", []],
    ["timeout", []],
    ["timeout", []]
  ])
  await storm.settled()
  await storm.over()
})

test("MON1 a monitor that is dropped in the turn of the death notifies once or, flushed, never", async () => {
  const storm = new Storm()
  const victims = Array.from({ length: 100 }, () => serve(storm))
  const observed: Array<unknown> = []
  const watcher = Process.spawn(storm.system, async (self) => {
    const refs = victims.map((victim) => Process.monitor(self, victim))
    for (const [index, victim] of victims.entries()) {
      const ref = refs[index]
      if (ref === undefined) continue
      if (index % 4 === 0) Process.demonitor(ref)
      Process.exit(victim, "boom", storm.ground)
      if (index % 4 === 1) Process.demonitor(ref, { flush: true })
      if (index % 4 === 2) Process.demonitor(ref)
    }
    for (const message of await flush(self))
      if (SystemMessage.isDown(message)) observed.push(refs.indexOf(message.ref) % 4)
  })
  storm.watch(watcher)
  await storm.settled()
  expect([observed.length, new Set(observed)]).toEqual([50, new Set([2, 3])])
  await storm.over()
})

const hostTimers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length

test("CLOCK2 calls that are answered make one timer of the host for all, which is gone a turn later", async () => {
  const system = System.make()
  const definition = GenServer.make<void, null, "ask", "yes">({
    init: () => GenServer.ok(null),
    handleCall: (_request, _from, state) => GenServer.replying("yes", state)
  })
  const server = await GenServer.start(system, definition, undefined)
  await hop()
  const before = hostTimers()
  for (let index = 0; index < 100; index++) await GenServer.call(server, "ask")
  expect(hostTimers()).toBeLessThanOrEqual(before + 1)
  await hop()
  // The host may have had a timer of the test runner's that is gone by now.
  expect(hostTimers()).toBeLessThanOrEqual(before)
  expect(System.stats(system).timers).toBe(0)
  await System.stop(system)
})
