import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { Application, GenServer, Observer, OtpError, Process, Supervisor, System } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { Crew } from "../double/worker.ts"

let system: System.System
let crew: Crew

beforeEach(() => {
  system = System.make()
  crew = new Crew()
})

afterEach(() => System.stop(system))

/** An application with one worker for each given name, that traces its start and stop. */
const app = (
  name: string,
  options: Partial<Application.Definition> & { readonly workers?: ReadonlyArray<string> } = {}
): Application.Definition => {
  const { workers = [`w_${name}`], ...rest } = options
  return Application.make({
    name,
    start: (parent) => {
      crew.trace.push(["start", name])
      return Supervisor.startLink(parent, { children: workers.map((id) => crew.spec(id)), maxRestarts: 0, label: name })
    },
    prepStop: () => crew.trace.push(["prepStop", name]),
    stop: () => crew.trace.push(["stop", name]),
    ...rest
  })
}

const a = app("a")
const b = app("b", { dependsOn: [a] })
const c = app("c", { dependsOn: [b] })

/** An application that cannot start. */
const broken = app("broken", {
  dependsOn: [c],
  start: () => {
    throw new Error("no disk")
  }
})

const ended = (name: string) => [
  ["prepStop", name],
  ["terminate", `w_${name}`, "shutdown"],
  ["stop", name]
]

describe("start", () => {
  test("A1 ensureAllStarted starts dependencies first, and returns them in start order", async () => {
    expect(await Application.ensureAllStarted(system, c)).toEqual(["a", "b", "c"])
    expect(Application.running(system)).toEqual(["a", "b", "c"])
    expect(await Application.ensureAllStarted(system, c)).toEqual([])
  })

  test("A2 each start runs to the end of its tree before the next application starts", async () => {
    await Application.ensureAllStarted(system, c)
    const expected = ["a", "b", "c"].flatMap((name) => [
      ["start", name],
      ["init", `w_${name}`]
    ])
    expect(crew.take()).toEqual(expected)
  })

  test("A3 a running application is not started again", async () => {
    await Application.ensureAllStarted(system, b)
    await expect(Application.start(system, b)).rejects.toEqual(new OtpError.ApplicationAlreadyStarted({ name: "b" }))
  })

  test("A8 without what it depends on it does not start", async () => {
    await expect(Application.start(system, b)).rejects.toEqual(new OtpError.ApplicationNotStarted({ name: "a" }))
    expect([Application.running(system), crew.take()]).toEqual([[], []])
  })

  test("A9 A10 if one fails, those it had started are stopped again, and its reason is returned", async () => {
    await Application.start(system, a)
    await expect(Application.ensureAllStarted(system, broken)).rejects.toEqual(
      new OtpError.StartFailed({ reason: new Error("no disk") })
    )
    expect(Application.running(system)).toEqual(["a"])
    expect(crew.take().slice(-6)).toEqual([...ended("c"), ...ended("b")])
    expect(System.stats(system).processes).toBe(3)
  })

  test("a supervisor that does not come up fails its application with its own reason", async () => {
    const failing = app("failing", {
      start: (parent) =>
        Supervisor.startLink(parent, { children: [crew.spec("x", {}, { starts: [() => GenServer.fail("no")] })] })
    })
    const failure = Application.start(system, failing)
    await expect(failure).rejects.toMatchObject({ reason: { _tag: "Shutdown", value: { id: "x", reason: "no" } } })
    expect(System.stats(system).processes).toBe(0)
  })

  test("APPT1 two that start the same dependencies at once start each once", async () => {
    const other = app("other", { dependsOn: [b] })
    const started = await Promise.all([
      Application.ensureAllStarted(system, c),
      Application.ensureAllStarted(system, other)
    ])
    expect(started.flat().toSorted()).toEqual(["a", "b", "c", "other"])
  })

  test("an application is the root of its tree in the observer", async () => {
    await Application.start(system, a)
    const [root] = Observer.tree(system)
    expect([root?.kind, root?.label, root?.children[0]?.label]).toEqual(["application", "a", "a"])
  })
})

describe("stop", () => {
  test("A4 prepStop, the children with shutdown, stop", async () => {
    await Application.ensureAllStarted(system, c)
    crew.take()
    await Application.stop(system, c)
    expect(crew.take()).toEqual(ended("c"))
  })

  test("A5 A7 neither what it depends on nor what depends on it is stopped", async () => {
    await Application.ensureAllStarted(system, c)
    await Application.stop(system, b)
    expect(Application.running(system)).toEqual(["a", "c"])
  })

  test("A6 a stopped application is not stopped again", async () => {
    await Application.start(system, a)
    await Application.stop(system, a)
    await expect(Application.stop(system, a)).rejects.toEqual(new OtpError.ApplicationNotStarted({ name: "a" }))
  })

  test("APPM2 what prepStop and stop throw is reported, and keeps nothing from ending", async () => {
    const reasons: Array<unknown> = []
    const loud = System.make({ onCrash: (report) => reasons.push(report.reason) })
    const clumsy = app("clumsy", {
      prepStop: () => Promise.reject(new Error("one")),
      stop: () => {
        throw new Error("two")
      }
    })
    await Application.start(loud, clumsy)
    await Application.stop(loud, clumsy)
    expect(reasons).toEqual([new Error("one"), new Error("two")])
    expect(System.stats(loud).processes).toBe(0)
    await System.stop(loud)
  })

  test("A15 the end of the system ends them in reverse start order, the children of each in reverse", async () => {
    const [first, second] = [
      app("first", { workers: ["f1", "f2"] }),
      app("second", { workers: ["s1", "s2"], prepStop: () => {}, stop: () => {} })
    ]
    await Application.start(system, first)
    await Application.start(system, second)
    crew.take()
    await System.stop(system)
    expect(crew.take()).toEqual([
      ["terminate", "s2", "shutdown"],
      ["terminate", "s1", "shutdown"],
      ["prepStop", "first"],
      ["terminate", "f2", "shutdown"],
      ["terminate", "f1", "shutdown"],
      ["stop", "first"]
    ])
  })

  test("A16 halt ends all at once: no terminate anywhere", async () => {
    await Application.ensureAllStarted(system, c)
    crew.take()
    Application.halt(system)
    expect([crew.take(), System.stats(system).processes]).toEqual([[], 0])
  })
})

describe("an application that ends by itself", () => {
  test("A11 A13 if temporary, stops; the others run on; prepStop and stop are both called", async () => {
    await Application.ensureAllStarted(system, c)
    crew.take()
    crew.stop("w_c", "crash")
    await hop()
    expect(Application.running(system)).toEqual(["a", "b"])
    expect(crew.take()).toEqual([
      ["terminate", "w_c", "crash"],
      ["prepStop", "c"],
      ["stop", "c"]
    ])
  })

  test("A12 A14 if permanent or transient, and abnormally, the system is stopped", async () => {
    for (const kind of ["permanent", "transient"] as const) {
      const doomed = System.make()
      await Application.ensureAllStarted(doomed, b, { kind })
      crew.take()
      crew.stop("w_b", "crash")
      await hop()
      expect(crew.take()).toEqual([["terminate", "w_b", "crash"], ["prepStop", "b"], ["stop", "b"], ...ended("a")])
      expect(System.stats(doomed).processes).toBe(0)
    }
  })

  test("a transient one that ends normal stops nothing else", async () => {
    const brief = app("brief", { start: (parent) => Process.spawnLink(parent, () => {}) })
    await Application.start(system, a)
    await Application.start(system, brief, { kind: "transient" })
    await hop()
    expect(Application.running(system)).toEqual(["a"])
  })
})

/** The signals of a host, in the hands of a test. */
class Host implements Application.Signals {
  readonly listeners = new Map<string, Set<() => void>>()

  on(signal: string, listener: () => void): void {
    this.listeners.set(signal, (this.listeners.get(signal) ?? new Set()).add(listener))
  }

  off(signal: string, listener: () => void): void {
    this.listeners.get(signal)?.delete(listener)
  }

  get listening(): number {
    return [...this.listeners.values()].reduce((sum, each) => sum + each.size, 0)
  }

  raise(signal: string): void {
    for (const listener of this.listeners.get(signal) ?? []) listener()
  }
}

describe("run", () => {
  test("PROG1 PROG3 a signal ends all in order, with status 0, and no listener is left", async () => {
    const host = new Host()
    const running = Application.run(b, { system, signals: host })
    await hop()
    expect([Application.running(system), host.listening]).toEqual([["a", "b"], 2])
    crew.take()
    host.raise("SIGTERM")
    expect(await running).toEqual({ status: 0, end: { _tag: "Signal", signal: "SIGTERM" } })
    expect(crew.take()).toEqual([...ended("b"), ...ended("a")])
    expect([host.listening, System.stats(system).processes]).toEqual([0, 0])
  })

  test("PROG1 a signal during the start ends what has started", async () => {
    const host = new Host()
    const running = Application.run(c, { system, signals: host })
    host.raise("SIGINT")
    expect(await running).toMatchObject({ status: 0 })
    await hop()
    expect([host.listening, System.stats(system).processes]).toEqual([0, 0])
  })

  test("PROG2 a second signal ends all at once, with status 1", async () => {
    const host = new Host()
    const stubborn = app("stubborn", { prepStop: () => new Promise(() => {}) })
    const running = Application.run(stubborn, { system, signals: host, names: ["SIGINT"] })
    await hop()
    host.raise("SIGINT")
    await hop()
    host.raise("SIGINT")
    expect(await running).toEqual({ status: 1, end: { _tag: "Signal", signal: "SIGINT" } })
    expect([host.listening, System.stats(system).processes]).toEqual([0, 0])
  })

  test("A12 the abnormal end of the application is the end of the program, with status 1", async () => {
    const running = Application.run(b, { system })
    await hop()
    crew.stop("w_a", "crash")
    expect(await running).toEqual({ status: 1, end: { _tag: "ApplicationEnded", name: "a", reason: "shutdown" } })
  })

  test("a program whose work is done ends with status 0; one that somebody stops does too", async () => {
    const brief = app("brief", { start: (parent) => Process.spawnLink(parent, () => {}) })
    expect(await Application.run(brief)).toEqual({
      status: 0,
      end: { _tag: "ApplicationEnded", name: "brief", reason: "normal" }
    })
    const running = Application.run(a, { system })
    await hop()
    await System.stop(system)
    expect(await running).toEqual({ status: 0, end: { _tag: "Stopped" } })
  })

  test("PROG3 a program that does not start rejects with why, and leaves nothing", async () => {
    const host = new Host()
    await expect(Application.run(broken, { system, signals: host })).rejects.toEqual(
      new OtpError.StartFailed({ reason: new Error("no disk") })
    )
    expect([host.listening, System.stats(system).processes]).toEqual([0, 0])
  })
})
