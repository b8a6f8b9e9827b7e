import { Deferred, Effect, Fiber, Random } from "effect"
import { expect, test } from "vitest"
import { GenServer, Process, Supervisor, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"
import { Crew } from "../double/worker.ts"

const nothing = { processes: 0, fibers: 0, timers: 0, closing: 0 }

test("stop ends the roots in reverse start order, supervisors with their children", async () => {
  const system = System.make()
  const crew = new Crew()
  await Supervisor.start(system, { children: [crew.spec("a"), crew.spec("b")] })
  await Supervisor.start(system, { children: [crew.spec("c")] })
  crew.take()
  await System.stop(system)
  expect(crew.take()).toEqual([
    ["terminate", "c", "shutdown"],
    ["terminate", "b", "shutdown"],
    ["terminate", "a", "shutdown"]
  ])
  expect(System.stats(system)).toEqual(nothing)
})

test("STOP1 what does not end in time is killed", async () => {
  const system = System.make()
  const pid = sleeper(system)
  Process.trapExit(pid, true)
  await System.stop(system, { timeout: 5 })
  expect(Process.exitReason(pid)).toBe("killed")
  expect(System.stats(system)).toEqual(nothing)
})

test("STOP2 what a turn started without a link is ended in order too, once who started it is dead", async () => {
  const system = System.make()
  const log: Array<readonly [name: string, reason: unknown]> = []
  const polite = GenServer.make({
    init: (name: string) => GenServer.ok(name),
    terminate: (reason, name) => log.push([name, reason])
  })
  const start = (name: string) => GenServer.start(system, polite, name, { trapExit: true })
  await start("outer")
  Process.spawn(system, () => {
    const deeper = () => new Promise<void>(() => void start("inmost"))
    void start("inner").then(() => Process.spawn(system, deeper))
    Process.spawn(system, deeper)
    return new Promise(() => {})
  })
  await hop()
  await System.stop(system)
  expect(log).toContainEqual(["inner", "shutdown"])
  expect(log.filter(([name]) => name === "inmost")).toEqual([
    ["inmost", "shutdown"],
    ["inmost", "shutdown"]
  ])
  expect(log).toHaveLength(4)
  expect(System.stats(system)).toEqual(nothing)
})

test("STOP1 a root that starts others whenever it is ended does not keep a system from ending", async () => {
  const system = System.make()
  const hydra: GenServer.Definition<void, null> = GenServer.make<void, null>({
    init: () => GenServer.ok(null),
    terminate: (): Promise<Pid> => GenServer.start(system, hydra, undefined, { trapExit: true })
  })
  await GenServer.start(system, hydra, undefined, { trapExit: true })
  await System.stop(system, { timeout: 5 })
  expect(System.stats(system)).toEqual(nothing)
})

test("stop waits for finalizers, but not for ever", async () => {
  const system = System.make()
  const gate = Deferred.makeUnsafe<void>()
  Process.spawn(system, () => Effect.never.pipe(Effect.ensuring(Deferred.await(gate))))
  await hop()
  await System.stop(system, { timeout: 5 })
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 1, timers: 0, closing: 1 })
  Effect.runSync(Deferred.succeed(gate, undefined))
  await hop()
  expect(System.stats(system)).toEqual(nothing)
})

test("stopping twice is stopping once; nothing can be spawned after", async () => {
  const system = System.make({ name: "s" })
  expect(System.stop(system)).toBe(System.stop(system))
  await System.stop(system)
  expect(() => Process.spawn(system, () => {})).toThrow('the system "s" is stopped')
})

test("processes leaves out one that dies while they are gone through, and goes on with the others", async () => {
  const system = System.make()
  const pids = [sleeper(system), sleeper(system), sleeper(system), sleeper(system)]
  const seen: Array<unknown> = []
  for (const pid of System.processes(system)) {
    seen.push(pid)
    Process.kill(pid)
    if (seen.length === 1) Process.kill(pids[2] as (typeof pids)[0])
  }
  expect(seen).toEqual([pids[0], pids[1], pids[3]])
  expect([...System.processes(system)]).toEqual([])
  expect(System.stats(system)).toEqual(nothing)
  await System.stop(system)
})

test("TABLE1 processes are counted and in order, whichever of them end", async () => {
  const system = System.make()
  const ended = (pids: ReadonlyArray<Pid>, kept: (index: number) => boolean) => {
    for (const [index, pid] of pids.entries()) if (!kept(index)) Process.kill(pid)
    const left = pids.filter((_pid, index) => kept(index))
    expect([[...System.processes(system)], System.stats(system).processes]).toEqual([left, left.length])
    return left
  }
  const start = () => Array.from({ length: 6 }, () => sleeper(system))
  const inner = ended(start(), (index) => index > 0 && index < 5)
  const outer = ended([...inner, ...start()], (index) => index !== 3 && index !== 4)
  ended(outer, () => false)
  ended(start(), (index) => index === 0)
  await System.stop(system)
})

test("processes lists the living in the order of their start", async () => {
  const system = System.make()
  const pids = [sleeper(system), sleeper(system), sleeper(system)]
  Process.kill(pids[1] as (typeof pids)[0])
  expect([...System.processes(system)]).toEqual([pids[0], pids[2]])
  expect(String(pids[0])).toBe("<0.1.0>")
  await System.stop(system)
})

test("a crash reporter that fails harms nobody", async () => {
  const system = System.make({
    onCrash: () => {
      throw new Error("reporter")
    }
  })
  const pid = Process.spawn(system, () => Process.exitSelf("boom"))
  await hop()
  expect(Process.exitReason(pid)).toBe("boom")
  await System.stop(system)
})

test("nothing of 10,000 processes is left after they ended", async () => {
  const system = System.make()
  const definition = GenServer.make<void, number, "next", number>({
    init: () => GenServer.ok(0),
    handleCall: (_request, _from, state) => GenServer.replying(state + 1, state + 1)
  })
  const parent = sleeper(system)
  const pids = Array.from({ length: 10_000 }, () => GenServer.spawnLink(parent, definition, undefined))
  const replies = await Promise.all(pids.map((pid) => GenServer.call(pid, "next")))
  expect(replies.every((reply) => reply === 1)).toBe(true)
  expect(System.stats(system)).toEqual({ ...nothing, processes: 10_001 })
  for (const pid of pids) Process.exit(pid, "normal", pid)
  expect(System.stats(system)).toEqual({ ...nothing, processes: 1 })
  expect(Process.info(parent)?.links).toEqual([])
  await System.stop(system)
  expect(System.stats(system)).toEqual(nothing)
})

const draws = (seed?: number): ReadonlyArray<unknown> => {
  const system = System.make(seed === undefined ? {} : { seed })
  return [System.random(system), System.random(system), System.uuid(system), System.uuid(system)]
}

test("CHANCE1 the numbers and ids of a seed are the same each time, those of another differ", () => {
  expect(draws(7)).toEqual(draws(7))
  expect(draws(7)).not.toEqual(draws(8))
  expect(draws(-1)).not.toEqual(draws(2 ** 32 - 1))
  expect(draws(2 ** 40)).not.toEqual(draws(0))
  expect(System.make({ seed: 7 }).seed).toBe(7)
})

test("CHANCE2 what is drawn from one stream of a seed moves no other", () => {
  const [one, same] = [System.make({ seed: 7 }), System.make({ seed: 7 })]
  const [id, first] = [System.uuid(one, "ids"), System.random(one)]
  System.random(same)
  System.random(same, "dice")
  expect(System.uuid(same, "ids")).toBe(id)
  const other = System.make({ seed: 7 })
  expect([System.random(other, "dice"), System.random(other, "coins")]).not.toContain(first)
  expect(System.random(other)).toBe(first)
})

test("without a seed chance is the host's", () => {
  expect(draws()).not.toEqual(draws())
  expect(System.make().seed).toBeUndefined()
  for (const drawn of draws().slice(0, 2)) expect(Number(drawn) >= 0 && Number(drawn) < 1).toBe(true)
})

test("ids are UUIDs of the random kind, with a seed too", () => {
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  for (const id of [...draws(1).slice(2), ...draws().slice(2)]) expect(id).toMatch(form)
})

test("what the effects of a system draw comes from its seed", async () => {
  const drawn = (seed: number) =>
    Effect.runPromise(Fiber.join(System.runFork(System.make({ seed }), Effect.all([Random.next, Random.nextInt]))))
  expect(await drawn(3)).toEqual(await drawn(3))
  expect(await drawn(3)).not.toEqual(await drawn(4))
})

test("a seed that is no whole number is refused", () => {
  for (const seed of [0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => System.make({ seed })).toThrow("give a whole number")
  }
})

test("RUN2 a system with a seed gives way to the event loop by counts alone, at whatever load", async () => {
  /** After how many messages the event loop had its first turn, with callbacks that hold the thread for so long. */
  const firstTurn = async (blockedMs: number): Promise<number> => {
    const system = System.make({ seed: 1 })
    let handled = 0
    const busy = GenServer.make({
      init: () => GenServer.ok(undefined),
      handleCast: (heldMs: number) => {
        handled += 1
        for (const until = performance.now() + heldMs; performance.now() < until;);
      }
    })
    const servers = await Promise.all(Array.from({ length: 50 }, () => GenServer.start(system, busy, undefined)))
    await hop()
    let seen = -1
    for (const server of servers) GenServer.cast(server, blockedMs)
    setImmediate(() => (seen = handled))
    await hop()
    await System.stop(system)
    return seen
  }
  expect(await firstTurn(0.5)).toBe(await firstTurn(0))
})
