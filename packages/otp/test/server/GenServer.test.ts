import { Effect, Exit } from "effect"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { Clock, GenServer, OtpError, Process, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { bank, empty } from "../double/bank.ts"
import type { Args, Trace } from "../double/bank.ts"
import { hop } from "../double/hop.ts"
import { flush, inProcess, sleeper } from "../double/inProcess.ts"

let system: System.System
let clock: Clock.TestClock
let trace: Trace

beforeEach(() => {
  clock = Clock.test()
  system = System.make({ clock })
  trace = []
})

afterEach(async () => {
  await System.stop(system)
  expect([System.stats(system), clock.pending]).toEqual([{ processes: 0, fibers: 0, timers: 0, closing: 0 }, 0])
})

const start = (args: Args = {}, options?: GenServer.StartOptions) =>
  GenServer.start(system, bank({ trace, ...args }), undefined, options)

const caught = (promise: Promise<unknown>): Promise<unknown> => promise.catch((error: unknown) => error)

const callExit = (reason: unknown, place = "GenServer.call") =>
  expect.objectContaining({ _tag: "CallExit", reason, in: place })

const startFailed = (reason: unknown) => expect.objectContaining({ _tag: "StartFailed", reason })

describe("start", () => {
  test("gs-001 start resolves only after init has answered", async () => {
    const pid = await start({
      init: async (seen) => {
        await hop()
        seen.push("init done")
        return GenServer.ok(empty)
      }
    })
    expect(trace).toEqual(["init", "init done"])
    expect(await GenServer.call(pid, "get")).toBe(0)
  })

  test("START4 an init that takes too long ends the server, and its parent lives", async () => {
    const parent = sleeper(system)
    const slow = bank({ init: () => new Promise(() => {}) })
    const starting = caught(GenServer.startLink(parent, slow, undefined, { timeout: 20 }))
    await hop()
    await clock.advance(20)
    expect(await starting).toEqual(startFailed("timeout"))
    expect([Process.isAlive(parent), Process.info(parent)?.links]).toEqual([true, []])
    expect(System.stats(system).processes).toBe(1)
  })

  test("gs-002 gs-003 an init that fails under startLink gives the reason, and the exit signal too", async () => {
    const seen = await inProcess(system, async (self) => {
      Process.trapExit(self, true)
      const error = await caught(GenServer.startLink(self, bank({ init: () => GenServer.fail("config") }), undefined))
      return [error, await flush(self)]
    })
    expect(seen).toEqual([startFailed("config"), [expect.objectContaining({ _tag: "Exit", reason: "config" })]])
    const plain = sleeper(system)
    await expect(GenServer.startLink(plain, bank({ init: () => GenServer.fail("config") }), undefined)).rejects.toEqual(
      startFailed("config")
    )
    expect(Process.exitReason(plain)).toBe("config")
  })

  test("gs-004 an init that fails without a link runs no terminate", async () => {
    await expect(start({ init: () => GenServer.fail("config") })).rejects.toEqual(startFailed("config"))
    expect(trace).toEqual(["init"])
  })

  test("gs-005 an init that ignores ends the process normal", async () => {
    const parent = sleeper(system)
    await expect(GenServer.startLink(parent, bank({ init: () => GenServer.ignore() }), undefined)).rejects.toEqual(
      new OtpError.StartIgnored()
    )
    expect(Process.isAlive(parent)).toBe(true)
  })

  test("gs-006 gs-007 gs-008 gs-009 an init that throws, exits, answers no result, or throws its result", async () => {
    const boom = new Error("boom")
    await expect(start({ init: () => Promise.reject(boom) })).rejects.toEqual(startFailed(boom))
    await expect(start({ init: () => Process.exitSelf("out") })).rejects.toEqual(startFailed("out"))
    await expect(start({ init: () => "garbage" as never })).rejects.toEqual(
      startFailed(expect.objectContaining({ _tag: "BadReturnValue", value: "garbage" }))
    )
    const pid = await start({
      init: () => {
        throw GenServer.ok({ ...empty, total: 7 })
      }
    })
    expect(await GenServer.call(pid, "get")).toBe(7)
  })

  test("gs-010 an init that takes longer than the start's timeout is killed", async () => {
    const starting = start({ init: () => new Promise(() => {}) }, { timeout: 100 }).catch((error: unknown) => error)
    await clock.advance(100)
    expect(await starting).toEqual(startFailed("timeout"))
    expect(System.stats(system).processes).toBe(0)
  })

  test("gs-011 gs-012 gs-014 a continuation runs before queued messages, and start does not wait for it", async () => {
    const pid = await start({ init: () => GenServer.ok(empty, { continue: 2 }) }, { name: "bank" })
    GenServer.cast(pid, { add: 1 })
    expect(trace).toEqual(["init"])
    await GenServer.call(pid, "get")
    expect(trace).toEqual(["init", ["continue", 2], ["continue", 1], { add: 1 }])
  })

  test("gs-015 gs-016 a state timeout comes once, and any message drops it", async () => {
    const pid = await start({ init: () => GenServer.ok(empty, { timeout: 20 }) })
    await clock.advance(50)
    expect(trace).toEqual(["init", ["info", "timeout"]])
    const other = await start({ init: () => GenServer.ok(empty, { timeout: 20 }) })
    GenServer.cast(other, { add: 1 })
    await clock.advance(50)
    expect(trace).toEqual(["init", ["info", "timeout"], "init", { add: 1 }])
    expect(Process.isAlive(pid)).toBe(true)
  })

  test("name-004 START1 under a taken name nothing is started and no init runs", async () => {
    const holder = await start({}, { name: "bank" })
    await expect(start({}, { name: "bank" })).rejects.toEqual(
      startFailed(expect.objectContaining({ _tag: "AlreadyStarted", pid: holder }))
    )
    expect(trace).toEqual(["init"])
  })

  test("spawnLink starts a server whose init answers at once, and refuses one that waits", async () => {
    const parent = sleeper(system)
    const pid = GenServer.spawnLink(parent, bank(), undefined)
    expect(await GenServer.call(pid, "get")).toBe(0)
    Process.trapExit(parent, true)
    expect(() => GenServer.spawnLink(parent, bank({ init: () => new Promise(() => {}) }), undefined)).toThrow(
      "use startLink"
    )
    Process.trapExit(parent, false)
  })
})

describe("calls", () => {
  test("gs-020 gs-021 calls and casts are handled in the order sent, and the state is kept", async () => {
    const pid = await start()
    GenServer.cast(pid, { add: 1 })
    const one = GenServer.call(pid, "get")
    GenServer.cast(pid, { add: 2 })
    const two = GenServer.call(pid, "get")
    expect([await one, await two]).toEqual([1, 3])
  })

  test("PERF1 PERF2 an answer may be a value, a promise or an effect", async () => {
    const pid = await start()
    expect(await GenServer.call(pid, "promise")).toBe("promised")
    expect(await GenServer.call(pid, "effect")).toBe("effected")
    expect(await Effect.runPromise(GenServer.callEffect(pid, "get"))).toBe(0)
  })

  test("gs-022 gs-024 gs-038 PCALL2 a call times out after 5 seconds and leaves nothing behind", async () => {
    const pid = await start()
    const seen = inProcess(system, async (self) => {
      const error = await caught(GenServer.call(pid, "later", { from: self }))
      Process.send(pid, "late answer")
      await hop()
      Process.kill(pid)
      return [error, await flush(self)]
    })
    await clock.advance(4999)
    expect(System.stats(system).timers).toBe(1)
    await clock.advance(1)
    expect(await seen).toEqual([callExit("timeout"), []])
  })

  test("gs-023 a timeout that is not caught ends the caller", async () => {
    const pid = await start()
    const caller = Process.spawn(system, (self) => GenServer.callEffect(pid, "never", { timeout: 10, from: self }))
    await clock.advance(10)
    expect(Process.exitReason(caller)).toEqual(callExit("timeout"))
  })

  test("gs-025 gs-039 a timeout does not cancel the work; infinity waits", async () => {
    const pid = await start()
    await Promise.all([
      expect(GenServer.call(pid, "later", { timeout: 10 })).rejects.toEqual(callExit("timeout")),
      clock.advance(10)
    ])
    const waiting = GenServer.call(pid, "later", { timeout: "infinity" })
    await clock.advance(1_000_000)
    Process.send(pid, "answer")
    expect(await waiting).toBe("answer")
  })

  test("gs-026 name-005 a call to a dead process or an unknown name fails at once; a cast does not", async () => {
    const pid = await start()
    Process.kill(pid)
    await expect(GenServer.call(pid, "get")).rejects.toEqual(callExit("noproc"))
    await expect(GenServer.call(Process.named(system, "nobody"), "get")).rejects.toEqual(callExit("noproc"))
    GenServer.cast(pid, { add: 1 })
    GenServer.cast(Process.named(system, "nobody"), { add: 1 })
  })

  test("gs-027 gs-028 gs-031 gs-037 gs-082 callers that wait get the reason the server ended with", async () => {
    const boom = new Error("boom")
    for (const [request, reason] of [
      [{ fail: boom }, boom],
      [{ stop: "normal" }, "normal"]
    ] as const) {
      const pid = await start()
      const deferred = GenServer.call(pid, "later").catch((error: unknown) => error)
      const calling = GenServer.call(pid, request).catch((error: unknown) => error)
      const queued = GenServer.call(pid, "get").catch((error: unknown) => error)
      expect(await Promise.all([deferred, calling, queued])).toEqual(Array(3).fill(callExit(reason)))
    }
    const pid = await start()
    const calling = GenServer.call(pid, "never").catch((error: unknown) => error)
    Process.kill(pid)
    expect(await calling).toEqual(callExit("killed"))
  })

  test("gs-029 a stop with a reply answers the call after terminate", async () => {
    const pid = await start()
    expect(await GenServer.call(pid, { stop: "done", reply: "bye" })).toBe("bye")
    expect(trace).toEqual(["init", ["terminate", "done"]])
    expect(Process.exitReason(pid)).toBe("done")
  })

  test("gs-030 a server that calls itself fails instead of waiting for ever", async () => {
    const pid = await start()
    await expect(GenServer.call(pid, "self")).rejects.toEqual(callExit(callExit("calling_self")))
  })

  test("gs-033 gs-034 gs-035 a call may be answered later, by anybody, once", async () => {
    let kept: GenServer.From<string> | undefined
    const definition = GenServer.make<void, null, string, string>({
      init: () => GenServer.ok(null),
      handleCall: (_request, from, state) => {
        kept = from
        return GenServer.noreply(state)
      }
    })
    const pid = await GenServer.start(system, definition, undefined)
    const waiting = GenServer.call(pid, "ask")
    await hop()
    GenServer.reply(kept as unknown as GenServer.From<string>, "first")
    GenServer.reply(kept as unknown as GenServer.From<string>, "second")
    expect(await waiting).toBe("first")
  })

  test("gs-036 gs-040 the death of a caller drops its call, but not the request it queued", async () => {
    const pid = await start()
    const caller = Process.spawn(system, (self) => GenServer.call(pid, "later", { from: self }))
    await hop()
    Process.kill(caller)
    expect(System.stats(system).timers).toBe(0)
    Process.send(pid, "answer")
    await hop()
    expect(trace).toEqual(["init", ["info", "answer"]])
    expect(Process.isAlive(pid)).toBe(true)
  })

  test("an interrupted callEffect drops the call", async () => {
    const pid = await start()
    const fiber = Effect.runFork(GenServer.callEffect(pid, "never"))
    await hop()
    fiber.interruptUnsafe()
    expect(Exit.hasInterrupts(fiber.pollUnsafe() ?? Exit.void)).toBe(true)
    expect(System.stats(system).timers).toBe(0)
  })
})

describe("ends", () => {
  test("gs-050 gs-051 gs-052 gs-062 terminate runs when a callback stops, throws or exits; mail behind it is lost", async () => {
    const boom = new Error("boom")
    for (const [message, reason] of [
      [{ stop: "done" }, "done"],
      [{ fail: boom }, boom],
      [{ fail: Process.exitWith("out") }, "out"]
    ] as const) {
      trace = []
      const pid = await start()
      GenServer.cast(pid, message)
      GenServer.cast(pid, { add: 1 })
      await hop()
      expect(trace).toEqual(["init", ["terminate", reason]])
      expect(Process.exitReason(pid)).toBe(reason)
    }
  })

  test("gs-053 gs-054 terminate does not run on a signal that is not trapped, nor on kill", async () => {
    const plain = await start()
    Process.exit(plain, "boom")
    const trapping = await start({}, { trapExit: true })
    Process.kill(trapping)
    await hop()
    expect(trace).toEqual(["init", "init"])
  })

  test("gs-055 gs-056 a trapping server terminates with its parent, whatever the reason", async () => {
    for (const reason of ["boom", "normal"]) {
      trace = []
      const parent = sleeper(system)
      const pid = await GenServer.startLink(parent, bank({ trace }), undefined, { trapExit: true })
      Process.exit(parent, reason, parent)
      await hop()
      expect([trace, Process.exitReason(pid)]).toEqual([["init", ["terminate", reason]], reason])
    }
  })

  test("gs-057 a server that does not trap outlives the normal end of its parent", async () => {
    const parent = sleeper(system)
    const pid = await GenServer.startLink(parent, bank(), undefined)
    Process.exit(parent, "normal", parent)
    await hop()
    expect(Process.isAlive(pid)).toBe(true)
  })

  test("gs-058 gs-063 a trapping server gets other exits as messages", async () => {
    const pid = await start({}, { trapExit: true })
    const other = sleeper(system)
    Process.link(pid, other)
    Process.exit(other, "boom")
    Process.exit(pid, "direct")
    await hop()
    expect(trace.slice(1)).toEqual([
      ["info", expect.objectContaining({ _tag: "Exit", from: other, reason: "boom" })],
      ["info", expect.objectContaining({ _tag: "Exit", reason: "direct" })]
    ])
  })

  test("gs-059 gs-060 a bad result ends the server; a result that is thrown counts as returned", async () => {
    const pid = await start()
    expect(await GenServer.call(pid, { throw: "thrown" })).toBe("thrown")
    GenServer.cast(pid, "bad")
    await hop()
    expect(Process.exitReason(pid)).toMatchObject({ _tag: "BadReturnValue", value: "no result" })
    expect(trace).toEqual(["init", ["terminate", Process.exitReason(pid)]])
  })

  test("gs-061 what terminate throws replaces the reason", async () => {
    const pid = await start({ terminate: () => Process.exitSelf("worse") })
    GenServer.cast(pid, { stop: "done" })
    await hop()
    expect(Process.exitReason(pid)).toBe("worse")
  })

  test("SERV5 what terminate throws that is no error changes no exit reason; an error does", async () => {
    const refuse = (value: unknown): never => {
      throw value
    }
    const endOf = async (terminate: NonNullable<Args["terminate"]>, reason: unknown) => {
      const pid = await start({ terminate })
      return [await caught(GenServer.stop(pid, reason)), Process.exitReason(pid)]
    }
    for (const reason of ["normal", "boom"]) {
      expect(await endOf(() => refuse("thrown"), reason)).toEqual([undefined, reason])
      expect(await endOf(() => Promise.reject("later"), reason)).toEqual([undefined, reason])
      const error = new Error("raised")
      expect(await endOf(() => refuse(error), reason)).toEqual([callExit(error, "GenServer.stop"), error])
    }
  })

  test("SERV3 a trapping server that nobody started it linked to ends with the signal it sends itself", async () => {
    const options = { trapExit: true }
    for (const reason of ["boom", "normal"]) {
      trace = []
      const alone = await start({ terminate: () => {} }, options)
      Process.exit(alone, reason, alone)
      await hop()
      expect([trace, Process.exitReason(alone)]).toEqual([["init", ["terminate", reason]], reason])
      const linked = await GenServer.startLink(sleeper(system), bank(), undefined, options)
      Process.exit(linked, reason, linked)
      await hop()
      expect(Process.isAlive(linked)).toBe(true)
    }
  })

  test("gs-070 gs-071 gs-076 stop waits for the end, after the mail before it", async () => {
    const pid = await start({ terminate: hop })
    GenServer.cast(pid, { add: 1 })
    await GenServer.stop(pid, "finished")
    expect(trace).toEqual(["init", { add: 1 }, ["terminate", "finished"]])
    expect(Process.exitReason(pid)).toBe("finished")
  })

  test("gs-072 stop with an abnormal reason ends a linked process too", async () => {
    const parent = sleeper(system)
    const pid = await GenServer.startLink(parent, bank(), undefined)
    await GenServer.stop(pid, "boom")
    expect(Process.exitReason(parent)).toBe("boom")
  })

  test("gs-073 gs-074 gs-075 stop fails by time, on a dead server, and when the server ends with another reason", async () => {
    const stop = (pid: Pid, timeout?: number) => GenServer.stop(pid, "normal", timeout).catch((error: unknown) => error)
    const slow = await start({ terminate: () => Effect.sleep("1 second") })
    const stopping = stop(slow, 100)
    await clock.advance(100)
    expect(await stopping).toEqual(callExit("timeout", "GenServer.stop"))
    expect(Process.isAlive(slow)).toBe(true)
    await clock.advance(1000)
    expect(Process.exitReason(slow)).toBe("normal")
    expect(await stop(slow)).toEqual(callExit("noproc", "GenServer.stop"))
    const other = await start({ terminate: () => Process.exitSelf("worse") })
    expect(await stop(other)).toEqual(callExit("worse", "GenServer.stop"))
  })

  test("a stop that loses a race resolves where the server ended as asked, and rejects with its reason where not", async () => {
    const race = async (reason: unknown) => {
      const pid = await start({ terminate: hop })
      GenServer.cast(pid, { stop: reason })
      return Promise.all([caught(GenServer.stop(pid)), caught(GenServer.stop(pid))])
    }
    expect(await race("normal")).toEqual([undefined, undefined])
    const boom = callExit("boom", "GenServer.stop")
    expect(await race("boom")).toEqual([boom, boom])
  })

  test("a kill acts at once on a server that is busy, and its late answer is dropped", async () => {
    let finish = (): void => {}
    const definition = GenServer.make<void, null, string, string>({
      init: () => GenServer.ok(null),
      handleCall: (_request, _from, state) =>
        new Promise((resolve) => (finish = () => resolve(GenServer.replying("late", state))))
    })
    const pid = await GenServer.start(system, definition, undefined)
    const calling = GenServer.call(pid, "ask").catch((error: unknown) => error)
    await hop()
    Process.kill(pid)
    finish()
    expect(await calling).toEqual(callExit("killed"))
  })

  test("a crash is reported, an end by signal is not", async () => {
    const messages: Array<string> = []
    const loud = System.make({ onCrash: (report) => messages.push(report.message) })
    const crashing = await GenServer.start(loud, bank(), undefined)
    const ended = await GenServer.start(loud, bank(), undefined)
    GenServer.cast(crashing, { fail: new Error("boom") })
    Process.exit(ended, "boom")
    await hop()
    await System.stop(loud)
    expect(messages).toEqual([`bank ${crashing} ended: Error: boom`])
  })
})
