import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { DynamicSupervisor, GenServer, Process, Supervisor, System } from "../../src/index.ts"
import type { Clock, Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { Storm } from "./storm.ts"
import { Unruly } from "./unruly.ts"

const unlimited = { maxRestarts: Number.POSITIVE_INFINITY }

const fails = () => Process.exitSelf("boom")

/** Takes so many milliseconds of the system's time. */
const takes = (clock: Clock.Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimeout(resolve, ms))

/** A fresh storm with its children. */
const brew = () => {
  const storm = new Storm()
  return { storm, crew: new Unruly(storm), ms: (ms: number) => takes(storm.clock, ms) }
}

const supervise = async (storm: Storm, options: Supervisor.Options): Promise<Pid> =>
  storm.watch(await Supervisor.startLink(storm.ground, options))

const alive = (crew: Unruly, ...ids: ReadonlyArray<string>) => ids.filter((id) => Process.isAlive(crew.pid(id)))

test("START-KIDS2 a child whose start comes too late for its supervisor is ended in order", async () => {
  const { storm } = brew()
  const log: Array<unknown> = []
  const late = GenServer.make<void, null>({
    init: () => GenServer.ok(null),
    terminate: (reason) => log.push(reason)
  })
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => (open = resolve))
  const begin = async (): Promise<Pid> => {
    await gate
    return GenServer.start(storm.system, late, undefined, { trapExit: true })
  }
  const start = { id: "late", start: begin }
  const supervisor = await supervise(storm, { children: [] })
  const dynamic = storm.watch(await DynamicSupervisor.startLink(storm.ground))
  const asked = Promise.allSettled([
    Supervisor.startChild(supervisor, start),
    DynamicSupervisor.startChild(dynamic, start)
  ])
  await hop()
  for (const pid of [supervisor, dynamic]) Process.kill(pid)
  open()
  await hop()
  expect((await asked).map(({ status }) => status)).toEqual(["rejected", "rejected"])
  expect([log, storm.living]).toEqual([["shutdown", "shutdown"], []])
  await storm.over()
})

describe("a child that crashes in init", () => {
  test("SUP3 whenever it is restarted uses up the limit, and the supervisor ends with all others", async () => {
    const { storm, crew } = brew()
    const bad = crew.spec("bad", { init: (start) => (start > 1 ? fails() : undefined) })
    const supervisor = await supervise(storm, { children: [crew.spec("a"), bad, crew.spec("z")], maxRestarts: 20 })
    crew.end("bad")
    await storm.settled()
    expect([Process.exitReason(supervisor), crew.starts.get("bad"), crew.ended]).toEqual([
      "shutdown",
      21,
      ["bad", "z", "a"]
    ])
    await storm.over()
  })

  test("SUP2 comes up at the try that succeeds, and a supervisor that tries again goes on answering", async () => {
    const { storm, crew } = brew()
    const bad = crew.spec("bad", { init: (start) => (start > 1 && start < 200 ? fails() : undefined) })
    const supervisor = await supervise(storm, { children: [bad], ...unlimited })
    crew.end("bad")
    const during = await Supervisor.countChildren(supervisor)
    await hop()
    expect([during.specs, crew.starts.get("bad"), alive(crew, "bad")]).toEqual([1, 200, ["bad"]])
    await storm.over()
  })

  test("SUP2 and is terminated by hand while it is being tried again is tried no more", async () => {
    const { storm, crew } = brew()
    const bad = crew.spec("bad", { init: (start) => (start > 1 ? fails() : undefined) })
    const supervisor = await supervise(storm, { children: [bad], ...unlimited })
    crew.end("bad")
    await Supervisor.terminateChild(supervisor, "bad")
    const tries = crew.starts.get("bad")
    await storm.settled(() => [supervisor])
    expect(crew.starts.get("bad")).toBe(tries)
    await Supervisor.deleteChild(supervisor, "bad")
    await storm.over()
  })

  test.each(["oneForAll", "restForOne"] as const)(
    "under %s takes the group with it until it comes up",
    async (strategy) => {
      const { storm, crew } = brew()
      const bad = crew.spec("b", { init: (start) => (start > 1 && start < 5 ? fails() : undefined) })
      const supervisor = await supervise(storm, {
        strategy,
        children: [crew.spec("a"), bad, crew.spec("c")],
        ...unlimited
      })
      crew.end("b")
      await storm.settled(() => [supervisor, ...["a", "b", "c"].map((id) => crew.pid(id))])
      expect(Object.fromEntries(crew.starts)).toEqual(
        strategy === "oneForAll" ? { a: 5, b: 5, c: 2 } : { a: 1, b: 5, c: 2 }
      )
      await storm.over()
    }
  )
})

describe("a child that crashes in terminate", () => {
  test("SUP1 does not keep its siblings from ending in order, nor its supervisor from its reason", async () => {
    const { storm, crew } = brew()
    const children = ["a", "b", "c", "d"].map((id) =>
      crew.spec(id, id === "b" || id === "d" ? { terminate: fails } : {})
    )
    const supervisor = await supervise(storm, { children })
    await Supervisor.stop(supervisor)
    expect([Process.exitReason(supervisor), crew.ended]).toEqual(["normal", ["d", "c", "b", "a"]])
    await storm.settled()
    await storm.over()
  })

  test("while it is ended for a group's restart comes up again with the group, and counts once", async () => {
    const { storm, crew } = brew()
    const children = ["a", "b", "c"].map((id) => crew.spec(id, { terminate: fails }))
    const supervisor = await supervise(storm, { strategy: "oneForAll", children, maxRestarts: 1 })
    crew.end("b")
    await storm.settled(() => [supervisor, ...["a", "b", "c"].map((id) => crew.pid(id))])
    expect(Object.fromEntries(crew.starts)).toEqual({ a: 2, b: 2, c: 2 })
    await storm.over()
  })
})

describe("while a restart runs", () => {
  test.each(["oneForOne", "oneForAll", "restForOne"] as const)(
    "%s: crashes of all the others are handled after it, and everybody is up in the end",
    async (strategy) => {
      for (let tick = 0; tick < 24; tick += 3) {
        const { storm, crew, ms } = brew()
        const ids = ["a", "b", "c", "d"]
        const children = ids.map((id) => crew.spec(id, { init: (start) => (start > 1 ? ms(5) : undefined) }))
        const supervisor = await supervise(storm, { strategy, children, ...unlimited })
        crew.end("b")
        await storm.clock.advance(tick)
        for (const id of ids) Process.exit(crew.pid(id), "kill")
        await storm.clock.advance(200)
        await storm.settled(() => [supervisor, ...ids.map((id) => crew.pid(id))])
        expect(await Supervisor.countChildren(supervisor)).toMatchObject({ specs: 4, active: 4 })
        await storm.over()
      }
    }
  )

  test("a child killed in the init of its restart is started once more", async () => {
    const { storm, crew, ms } = brew()
    const supervisor = await supervise(storm, {
      children: [crew.spec("a", { init: (start) => (start === 2 ? ms(10) : undefined) })],
      ...unlimited
    })
    crew.end("a")
    await storm.clock.advance(5)
    Process.kill(crew.pid("a"))
    await storm.clock.advance(20)
    expect([crew.starts.get("a"), alive(crew, "a")]).toEqual([3, ["a"]])
    await storm.settled(() => [supervisor, crew.pid("a")])
    await storm.over()
  })

  const ends: ReadonlyArray<readonly [string, (storm: Storm, supervisor: Pid) => unknown]> = [
    ["stopped", (_storm, supervisor) => Supervisor.stop(supervisor).catch(() => undefined)],
    ["killed", (_storm, supervisor) => Process.kill(supervisor)],
    ["shut down by its parent", (storm, supervisor) => Process.exit(supervisor, "shutdown", storm.ground)],
    [
      "killed after it was stopped",
      (_storm, supervisor) => {
        void Supervisor.stop(supervisor).catch(() => undefined)
        Process.kill(supervisor)
      }
    ]
  ]

  test.each(ends)("at any time of it a supervisor that is %s leaves nobody behind", async (_how, end) => {
    for (let tick = 0; tick < 20; tick += 2) {
      const { storm, crew, ms } = brew()
      const slow = { init: (start: number) => (start > 1 ? ms(5) : undefined), terminate: () => ms(3) }
      const children = ["a", "b", "c"].map((id) => crew.spec(id, slow))
      const supervisor = await supervise(storm, { strategy: "restForOne", children, ...unlimited })
      crew.end("b")
      await storm.clock.advance(tick)
      end(storm, supervisor)
      await storm.clock.advance(100)
      expect(Process.isAlive(supervisor)).toBe(false)
      await storm.settled()
      await storm.over()
    }
  })

  test("at any time of it a system that is stopped ends it in order, and nothing is left", async () => {
    for (let tick = 0; tick < 12; tick += 2) {
      const { storm, crew, ms } = brew()
      const children = ["a", "b"].map((id) => crew.spec(id, { init: (start) => (start > 1 ? ms(5) : undefined) }))
      const supervisor = await Supervisor.start(storm.system, { children, ...unlimited })
      storm.watch(supervisor)
      crew.end("a")
      await storm.clock.advance(tick)
      Process.trapExit(storm.ground, false)
      const stopping = System.stop(storm.system)
      await storm.clock.advance(50)
      await stopping
      expect([System.stats(storm.system), storm.clock.pending]).toEqual([
        { processes: 0, fibers: 0, timers: 0, closing: 0 },
        0
      ])
    }
  })

  test("SUP3 a nested supervisor that gives up meanwhile is restarted after it", async () => {
    const { storm, crew, ms } = brew()
    const inner = Supervisor.childSpec("inner", { children: [crew.spec("x")], maxRestarts: 0 })
    const slow = crew.spec("slow", { init: (start) => (start > 1 ? ms(10) : undefined) })
    const supervisor = await supervise(storm, { children: [slow, inner], ...unlimited })
    crew.end("slow")
    await storm.clock.advance(5)
    crew.end("x")
    await storm.clock.advance(20)
    expect(Object.fromEntries(crew.starts)).toEqual({ slow: 2, x: 2 })
    expect(await Supervisor.countChildren(supervisor)).toMatchObject({ active: 2 })
    await storm.over()
  })
})

test("a supervisor whose parent ends at any time of its start ends with those it started", async () => {
  for (let tick = 0; tick < 20; tick += 2) {
    const { storm, crew, ms } = brew()
    const parent = storm.watch(Process.spawn(storm.system, () => new Promise(() => {})))
    const children = ["a", "b", "c"].map((id) => crew.spec(id, { init: () => ms(5) }))
    const starting = Supervisor.startLink(parent, { children }).then(
      () => "up",
      () => "failed"
    )
    await storm.clock.advance(tick)
    Process.exit(parent, "boom")
    await storm.clock.advance(50)
    expect(["up", "failed"]).toContain(await starting)
    await storm.settled()
    await storm.over()
  }
})

test("siblings that are linked to each other are restarted once each when one of them crashes", async () => {
  const { storm, crew } = brew()
  const supervisor = await supervise(storm, {
    children: [crew.spec("a", { trapExit: false }), crew.spec("b", { trapExit: false })],
    maxRestarts: 2
  })
  Process.link(crew.pid("a"), crew.pid("b"))
  crew.end("a")
  await storm.settled(() => [supervisor, crew.pid("a"), crew.pid("b")])
  expect(Object.fromEntries(crew.starts)).toEqual({ a: 2, b: 2 })
  await storm.over()
})

describe("a dynamic supervisor", () => {
  const many = 1000
  const worker = GenServer.make<Storm, null>({
    init: (storm, self) => {
      storm.watch(self)
      return GenServer.ok(null)
    }
  })
  const filled = async (storm: Storm, options: DynamicSupervisor.Options) => {
    const supervisor = storm.watch(await DynamicSupervisor.startLink(storm.ground, options))
    const start = (parent: Pid) => GenServer.startLink(parent, worker, storm)
    const pids = await Promise.all(
      Array.from({ length: many }, () => DynamicSupervisor.startChild(supervisor, { start }))
    )
    return { supervisor, pids }
  }

  test("DYN1 whose 1,000 children die at once has 1,000 new ones", async () => {
    const storm = new Storm()
    const { supervisor, pids } = await filled(storm, unlimited)
    for (const pid of pids) Process.kill(pid)
    await hop()
    await hop()
    const children = await DynamicSupervisor.whichChildren(supervisor)
    expect(
      children.filter(({ pid }) => typeof pid === "object" && Process.isAlive(pid) && pids.every((old) => old !== pid))
    ).toHaveLength(many)
    expect(storm.living).toHaveLength(many + 1)
    await storm.over()
  })

  test("DYN2 that gives up in such a storm ends all of them, and itself with shutdown", async () => {
    const storm = new Storm()
    const { supervisor, pids } = await filled(storm, { maxRestarts: 10 })
    for (const pid of pids.slice(0, many / 2)) Process.kill(pid)
    await storm.settled()
    expect(Process.exitReason(supervisor)).toBe("shutdown")
    await storm.over()
  })

  test("that is stopped while children start rejects those starts, and leaves none", async () => {
    for (let tick = 0; tick < 12; tick += 3) {
      const { storm, crew, ms } = brew()
      const supervisor = storm.watch(await DynamicSupervisor.startLink(storm.ground))
      const starting = Array.from({ length: 20 }, (_, index) =>
        DynamicSupervisor.startChild(supervisor, crew.spec(`child ${index}`, { init: () => ms(5) })).then(
          () => "up",
          () => "refused"
        )
      )
      await storm.clock.advance(tick)
      Process.kill(supervisor)
      await storm.clock.advance(50)
      expect(await Promise.all(starting)).toContain("refused")
      await storm.settled()
      await storm.over()
    }
  })

  test("whose children hang in terminate ends when the longest shutdown time is over", async () => {
    const { storm, crew } = brew()
    const supervisor = storm.watch(await DynamicSupervisor.startLink(storm.ground))
    const stuck = { terminate: () => Effect.never }
    for (let index = 1; index <= 20; index++) {
      await DynamicSupervisor.startChild(supervisor, crew.spec(`child ${index}`, stuck, { shutdown: index * 100 }))
    }
    const stopping = DynamicSupervisor.stop(supervisor)
    await storm.clock.advance(1999)
    expect(storm.living).toHaveLength(2)
    await storm.clock.advance(1)
    await stopping
    await storm.settled()
    await storm.over()
  })
})
