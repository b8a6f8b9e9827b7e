import { Effect, Scope } from "effect"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { ExitReason, Process, System, SystemMessage } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { flush, inProcess, sleeper } from "../double/inProcess.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})

afterEach(async () => {
  await System.stop(system)
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
})

test("a value that is no process is refused with an error that shows it", () => {
  for (const value of [undefined, 5, {}] as ReadonlyArray<unknown>) {
    const pid = value as Pid
    const work = [
      () => Process.kill(pid),
      () => Process.exit(pid, "shutdown"),
      () => Process.isAlive(pid),
      () => Process.exitReason(pid),
      () => Process.systemOf(pid),
      () => Process.link(pid, pid),
      () => Process.unlink(pid, pid),
      () => Process.monitor(pid, pid)
    ]
    for (const operation of work)
      expect(operation).toThrow(/is (?:no process|neither a process nor an address): pass a pid/)
  }
})

const exitOf = async (body: Process.Body<unknown>): Promise<unknown> => {
  const pid = Process.spawn(system, body)
  await hop()
  return Process.exitReason(pid)
}

/** Runs `body` in a process that traps exits. */
const trapping = <A>(body: (self: Pid<unknown>) => Promise<A>): Promise<A> =>
  inProcess(system, (self) => {
    Process.trapExit(self, true)
    return body(self)
  })

const exitMessage = (from: Pid, reason: unknown) => expect.objectContaining({ _tag: "Exit", from, reason })
const downMessage = (pid: unknown, reason: unknown) => expect.objectContaining({ _tag: "Down", pid, reason })

describe("processes", () => {
  test("proc-001 a process whose function returns exits normal", async () => {
    expect(await exitOf(() => {})).toBe("normal")
    expect(await exitOf(async () => "value")).toBe("normal")
    expect(await exitOf(() => Effect.succeed("value"))).toBe("normal")
  })

  test("proc-002 an uncaught error is the exit reason, however it was raised", async () => {
    const error = new Error("boom")
    expect(
      await exitOf(() => {
        throw error
      })
    ).toBe(error)
    expect(await exitOf(() => Promise.reject(error))).toBe(error)
    expect(await exitOf(() => Effect.die(error))).toBe(error)
    expect(await exitOf(() => Effect.yieldNow.pipe(Effect.andThen(Effect.fail(error))))).toBe(error)
  })

  test("proc-003 a thrown value that is no error gives NoCatch", async () => {
    expect(await exitOf(() => Promise.reject("v"))).toEqual(ExitReason.noCatch("v"))
  })

  test("proc-004 exitSelf makes any value the exit reason, verbatim", async () => {
    const reason = { any: "value" }
    expect(await exitOf(() => Process.exitSelf(reason))).toBe(reason)
    expect(await exitOf(() => Effect.die(Process.exitWith(reason)))).toBe(reason)
    expect(await exitOf(() => Effect.fail({ _tag: "Refused" }))).toEqual({ _tag: "Refused" })
  })

  test("proc-005 exitSelf normal ends the process at that point", async () => {
    let after = false
    const reason = await exitOf(async () => {
      Process.exitSelf("normal")
      after = true
    })
    expect([reason, after]).toEqual(["normal", false])
  })

  test("proc-006 proc-007 a plain spawn is not linked, either way", async () => {
    let child: Pid | undefined
    const parent = Process.spawn(system, async () => {
      Process.spawn(system, () => Promise.reject(new Error("child")))
      child = sleeper(system)
      await new Promise(() => {})
    })
    await hop()
    expect(Process.isAlive(parent)).toBe(true)
    Process.exit(parent, "boom")
    expect(Process.isAlive(child as unknown as Pid)).toBe(true)
  })

  test("proc-008 an exit can be caught inside the process", async () => {
    const reason = await exitOf(async () => {
      try {
        Process.exitSelf("inner")
      } catch {
        throw Process.exitWith("outer")
      }
    })
    expect(reason).toBe("outer")
  })

  test("proc-010 a promise's cleanup does not run when a signal ends the process; an effect's finalizer does", async () => {
    const ran: Array<string> = []
    const byPromise = Process.spawn(system, async (self) => {
      try {
        await Process.receive(self)
      } finally {
        ran.push("promise")
      }
    })
    const byEffect = Process.spawn(system, (self) =>
      Process.receiveEffect(self).pipe(Effect.ensuring(Effect.sync(() => ran.push("effect"))))
    )
    await hop()
    Process.exit(byPromise, "boom")
    Process.exit(byEffect, "boom")
    await hop()
    expect(ran).toEqual(["effect"])
  })

  test("proc-011 exitSelf kill is an ordinary exit, whose reason is kill", async () => {
    expect(await exitOf(() => Process.exitSelf("kill"))).toBe("kill")
  })

  test("proc-012 spawn returns before the child runs", () => {
    let ran = false
    Process.spawn(system, () => {
      ran = true
    })
    expect(ran).toBe(false)
  })

  test("a dying process aborts its signal and closes its scope, once", async () => {
    const closed: Array<string> = []
    const pid = sleeper(system)
    Process.abortSignal(pid).addEventListener("abort", () => closed.push("signal"))
    Effect.runSync(
      Effect.acquireRelease(Effect.void, () => Effect.sync(() => closed.push("scope"))).pipe(
        Effect.provideService(Scope.Scope, Process.scope(pid))
      )
    )
    Process.kill(pid)
    expect(closed.toSorted()).toEqual(["scope", "signal"])
  })

  test("the child of a dead parent ends at once with noproc", async () => {
    const parent = sleeper(system)
    Process.kill(parent)
    const child = Process.spawnLink(parent, () => new Promise(() => {}))
    expect(Process.exitReason(child)).toBe("noproc")
  })
})

describe("mailboxes", () => {
  test("mbox-001 mbox-008 messages come in the order sent, the own ones too", async () => {
    const taken = await inProcess(system, async (self) => {
      for (const message of [1, 2, 3]) Process.send(self, message)
      return flush(self)
    })
    expect(taken).toEqual([1, 2, 3])
  })

  test("mbox-002 mbox-004 a selective receive takes the first match and leaves the others in order", async () => {
    const taken = await inProcess(system, async (self) => {
      for (const message of ["a", "b", "c", "b"]) Process.send(self, message)
      const first = await Process.receive(self, { match: (message) => message === "b" })
      const none = await Process.receive(self, { match: (message) => message === "x", timeout: 0 })
      return [first, none, await flush(self)]
    })
    expect(taken).toEqual(["b", undefined, ["a", "c", "b"]])
  })

  test("mbox-003 a receive without time takes what is there, and times out at once otherwise", async () => {
    const taken = await inProcess(system, async (self) => {
      const none = await Process.receive(self, { timeout: 0 })
      Process.send(self, "here")
      return [none, await Process.receive(self, { timeout: 0 })]
    })
    expect(taken).toEqual([undefined, "here"])
  })

  test("mbox-005 sending to a dead process does nothing", () => {
    const pid = sleeper(system)
    Process.kill(pid)
    expect(() => Process.send(pid, "lost")).not.toThrow()
  })

  test("mbox-006 sending to a name nobody has fails in the sender", () => {
    expect(() => Process.send(Process.named(system, "nobody"), "lost")).toThrow('nobody is registered as "nobody"')
  })

  test("mbox-009 a selective receive waits for a later match while earlier mail stays", async () => {
    const taken = await inProcess(system, async (self) => {
      Process.send(self, "early")
      setImmediate(() => Process.send(self, "wanted"))
      const requested = await Process.receive(self, { match: (message) => message === "wanted" })
      return [requested, await flush(self)]
    })
    expect(taken).toEqual(["wanted", ["early"]])
  })

  test("an interrupted receive takes no message", async () => {
    const taken = await inProcess(system, async (self) => {
      await Effect.runPromise(Process.receiveEffect(self).pipe(Effect.timeoutOption("1 millis")))
      Process.send(self, "kept")
      return flush(self)
    })
    expect(taken).toEqual(["kept"])
  })
})

describe("exit signals", () => {
  test("exit-001 exit-002 normal is ignored, anything else ends the target with that reason", () => {
    const pid = sleeper(system)
    expect(Process.exit(pid, "normal")).toBe(true)
    expect(Process.isAlive(pid)).toBe(true)
    Process.exit(pid, "boom")
    expect(Process.exitReason(pid)).toBe("boom")
  })

  test("exit-003 exit-006 kill ends a trapping process too; the others see killed", async () => {
    const pid = sleeper(system)
    Process.trapExit(pid, true)
    Process.kill(pid)
    expect(Process.exitReason(pid)).toBe("killed")
  })

  test("exit-004 exit-005 exit-011 a trapping process gets signals as messages, unlinked and normal ones too", async () => {
    const other = sleeper(system)
    const taken = await trapping(async (self) => {
      for (const reason of ["normal", "boom", "killed"]) Process.exit(self, reason, other)
      return flush(self)
    })
    expect(taken).toEqual([exitMessage(other, "normal"), exitMessage(other, "boom"), exitMessage(other, "killed")])
  })

  test("exit-007 a process that signals itself normal does exit", async () => {
    expect(await exitOf(async (self) => void Process.exit(self, "normal", self))).toBe("normal")
    const pid = sleeper(system)
    Process.exit(pid, "normal", pid)
    expect(Process.isAlive(pid)).toBe(false)
  })

  test("exit-008 a trapping process that signals itself gets the message", async () => {
    const [pid, taken] = await trapping(async (self) => {
      Process.exit(self, "boom", self)
      return [self, await flush(self)] as const
    })
    expect(taken).toEqual([exitMessage(pid, "boom")])
  })

  test("exit-009 signalling a dead process does nothing", () => {
    const pid = sleeper(system)
    Process.exit(pid, "first")
    expect(Process.exit(pid, "second")).toBe(true)
    expect(Process.exitReason(pid)).toBe("first")
  })

  test("exit-010 mail sent before a signal is in the mailbox before it", async () => {
    const taken = await trapping(async (self) => {
      const sender = Process.spawn(system, (me) => {
        Process.send(self, "mail")
        Process.exit(self, "boom", me)
      })
      Process.monitor(self, sender)
      await Process.receive(self, { match: SystemMessage.isDown })
      return flush(self)
    })
    expect(taken).toEqual(["mail", expect.objectContaining({ _tag: "Exit", reason: "boom" })])
  })

  test("exit-013 exit-014 trapExit answers the old flag; messages got while trapping stay", async () => {
    const other = sleeper(system)
    const seen = await inProcess(system, async (self) => {
      const flags = [Process.trapExit(self, true), Process.trapExit(self, true)]
      Process.exit(self, "kept", other)
      Process.trapExit(self, false)
      return [flags, await flush(self)]
    })
    expect(seen).toEqual([[false, true], [exitMessage(other, "kept")]])
  })

  test("CELL3 a signal acts at once on a process that is busy", async () => {
    const pid = Process.spawn(system, () => Effect.never)
    await hop()
    Process.exit(pid, "boom")
    expect(Process.isAlive(pid)).toBe(false)
  })
})

describe("links", () => {
  test("link-001 link-006 link-016 an abnormal end, shutdown too, ends the linked process with the same reason", () => {
    for (const reason of ["boom", "shutdown", ExitReason.shutdown("x")]) {
      const [one, two] = [sleeper(system), sleeper(system)]
      Process.link(one, two)
      Process.exit(one, reason)
      expect(Process.exitReason(two)).toBe(reason)
    }
    const [one, two] = [sleeper(system), sleeper(system)]
    Process.link(one, two)
    Process.kill(one)
    expect(Process.exitReason(two)).toBe("killed")
  })

  test("link-002 link-003 a normal end leaves a linked process alive; a trapping one gets a message", async () => {
    const taken = await trapping(async (self) => {
      const child = Process.spawnLink(self, () => {})
      const plain = sleeper(system)
      Process.link(plain, child)
      await hop()
      return [child, Process.isAlive(plain), await flush(self)] as const
    })
    expect(taken.slice(1)).toEqual([true, [exitMessage(taken[0], "normal")]])
  })

  test("link-004 link-005 link-021 a trapping process gets one EXIT for a linked death; a kill comes as killed", async () => {
    const [pid, taken] = await trapping(async (self) => {
      const child = Process.spawnLink(self, () => new Promise(() => {}))
      Process.kill(child)
      return [child, await flush(self)] as const
    })
    expect(taken).toEqual([exitMessage(pid, "killed")])
  })

  test("link-007 an exit goes along links and stops at the first process that traps", async () => {
    const chain = Array.from({ length: 4 }, () => sleeper(system))
    chain.slice(1).forEach((pid, index) => Process.link(pid, chain[index] as Pid))
    Process.trapExit(chain[2] as Pid, true)
    Process.exit(chain[0] as Pid, "boom")
    expect(chain.map(Process.isAlive)).toEqual([false, false, true, true])
    Process.trapExit(chain[2] as Pid, false)
  })

  test("KERN2 an exit goes along a chain of 10,000 links", () => {
    const chain = Array.from({ length: 10_000 }, () => sleeper(system))
    chain.slice(1).forEach((pid, index) => Process.link(pid, chain[index] as Pid))
    Process.exit(chain[0] as Pid, "boom")
    expect(chain.some(Process.isAlive)).toBe(false)
  })

  test("link-008 linking to a dead process fails in a process that does not trap exits", async () => {
    const dead = sleeper(system)
    Process.kill(dead)
    const pid = sleeper(system)
    expect(() => Process.link(pid, dead)).toThrow("is dead")
    expect(Process.isAlive(pid)).toBe(true)
  })

  test("link-009 linking to a dead process gives a trapping one an EXIT noproc", async () => {
    const dead = sleeper(system)
    Process.kill(dead)
    const taken = await trapping(async (self) => {
      expect(Process.link(self, dead)).toBe(true)
      return flush(self)
    })
    expect(taken).toEqual([exitMessage(dead, "noproc")])
  })

  test("link-010 link-012 link-018 links do not stack; after unlink a crash has no effect", () => {
    const [one, two] = [sleeper(system), sleeper(system)]
    Process.link(one, two)
    Process.link(two, one)
    expect(Process.unlink(one, two)).toBe(true)
    expect(Process.unlink(one, two)).toBe(true)
    Process.exit(one, "boom")
    expect(Process.isAlive(two)).toBe(true)
  })

  test("link-011 a link to oneself has no effect", () => {
    const pid = sleeper(system)
    expect(Process.link(pid, pid)).toBe(true)
    expect(Process.info(pid)?.links).toEqual([])
  })

  test("link-013 unlink does not take an EXIT out of the mailbox", async () => {
    const taken = await trapping(async (self) => {
      const child = Process.spawnLink(self, () => new Promise(() => {}))
      Process.exit(child, "boom")
      Process.unlink(self, child)
      return flush(self)
    })
    expect(taken).toEqual([expect.objectContaining({ reason: "boom" })])
  })

  test("link-014 link-017 the crash of the spawner ends the child, its normal end does not", async () => {
    const children: Array<Pid> = []
    const crashing = Process.spawn(system, (self) => {
      children.push(Process.spawnLink(self, () => new Promise(() => {})))
      throw new Error("boom")
    })
    Process.spawn(system, (self) => void children.push(Process.spawnLink(self, () => new Promise(() => {}))))
    await hop()
    expect(children.map(Process.isAlive)).toEqual([false, true])
    expect(Process.exitReason(children[0] as Pid)).toBe(Process.exitReason(crashing))
  })

  test("link-015 mon-014 a child that crashes at once gives its real reason", async () => {
    const taken = await trapping(async (self) => {
      Process.spawnLink(self, () => Process.exitSelf("linked"))
      Process.spawnMonitor(self, () => Process.exitSelf("monitored"))
      await hop()
      return flush(self)
    })
    expect(taken).toEqual([
      expect.objectContaining({ _tag: "Exit", reason: "linked" }),
      expect.objectContaining({ _tag: "Down", reason: "monitored" })
    ])
  })

  test("link-019 link-020 the reason kill over a link is an ordinary one", async () => {
    const plain = sleeper(system)
    const taken = await trapping(async (self) => {
      const child = Process.spawnLink(self, () => Process.exitSelf("kill"))
      Process.link(plain, child)
      await hop()
      return flush(self)
    })
    expect(taken).toEqual([expect.objectContaining({ reason: "kill" })])
    expect(Process.exitReason(plain)).toBe("kill")
  })
})

describe("monitors", () => {
  test("mon-001 mon-002 mon-003 a Down has the reason, verbatim", async () => {
    const reason = { any: "value" }
    const taken = await inProcess(system, async (self) => {
      Process.spawnMonitor(self, () => {})
      Process.spawnMonitor(self, () => Process.exitSelf(reason))
      Process.kill(Process.spawnMonitor(self, () => {}).pid)
      await hop()
      return (await flush(self)).map((message) => SystemMessage.isDown(message) && message.reason)
    })
    expect(taken).toEqual(["killed", "normal", reason])
  })

  test("mon-004 mon-013 a monitor on a dead process or an unknown name fires at once with noproc", async () => {
    const dead = sleeper(system)
    Process.kill(dead)
    const name = Process.named(system, "nobody")
    const taken = await inProcess(system, async (self) => {
      Process.monitor(self, dead)
      Process.monitor(self, name)
      return flush(self)
    })
    expect(taken).toEqual([downMessage(dead, "noproc"), downMessage(name, "noproc")])
  })

  test("mon-005 mon-015 a monitor is one way, and a Down never ends the watcher", async () => {
    const target = sleeper(system)
    const watcher = sleeper(system)
    Process.monitor(watcher, target)
    const other = sleeper(system)
    Process.monitor(other, target)
    Process.exit(watcher, "boom")
    expect(Process.isAlive(target)).toBe(true)
    Process.exit(target, "boom")
    expect(Process.isAlive(other)).toBe(true)
  })

  test("mon-006 each monitor gives its own Down", async () => {
    const target = sleeper(system)
    const taken = await inProcess(system, async (self) => {
      const refs = [Process.monitor(self, target), Process.monitor(self, target)]
      Process.exit(target, "boom")
      return [refs, await flush(self)] as const
    })
    expect(taken[1]).toEqual(taken[0].map((ref) => expect.objectContaining({ ref, reason: "boom" })))
  })

  test("mon-007 to mon-011, mon-016 demonitor, with flush and info, before and after the Down", async () => {
    const target = sleeper(system)
    const seen = await inProcess(system, async (self) => {
      const before = Process.monitor(self, target)
      const kept = Process.monitor(self, target)
      const flushed = Process.monitor(self, target)
      const dropped = Process.demonitor(before, { info: true })
      Process.exit(target, "boom")
      const answers = [
        dropped,
        Process.demonitor(before),
        Process.demonitor(kept, { info: true }),
        Process.demonitor(flushed, { flush: true, info: true })
      ]
      return [answers, kept, await flush(self)] as const
    })
    expect(seen[0]).toEqual([true, true, false, false])
    expect(seen[2]).toEqual([expect.objectContaining({ ref: seen[1] })])
  })

  test("mon-012 a monitor by name reports the name", async () => {
    const name = Process.named(system, "known")
    Process.spawn(system, () => new Promise(() => {}), { name: "known" })
    const taken = await inProcess(system, async (self) => {
      Process.monitor(self, name)
      Process.exit(name.whereis() as Pid, "boom")
      return flush(self)
    })
    expect(taken).toEqual([downMessage(name, "boom")])
  })

  test("mon-017 mon-018 mail, then EXIT, then DOWN", async () => {
    const taken = await trapping(async (self) => {
      const child = Process.spawnLink(self, () => {
        Process.send(self, "mail")
        Process.exitSelf("boom")
      })
      Process.monitor(self, child)
      await hop()
      return (await flush(self)).map((message) => (message === "mail" ? message : (message as { _tag: string })._tag))
    })
    expect(taken).toEqual(["mail", "Exit", "Down"])
  })

  test("mon-019 monitoring oneself gives a reference and no Down", async () => {
    const pid = sleeper(system)
    expect(Process.monitor(pid, pid)._tag).toBe("MonitorRef")
    Process.kill(pid)
  })

  test("onExit calls once, at once for a dead process, and can be forgotten", () => {
    const pid = sleeper(system)
    const seen: Array<unknown> = []
    Process.onExit(pid, (reason) => seen.push(reason))
    Process.onExit(pid, () => seen.push("forgotten"))()
    Process.exit(pid, "boom")
    Process.onExit(pid, (reason) => seen.push(["late", reason]))
    expect(seen).toEqual(["boom", ["late", "boom"]])
  })

  test("what a function of onExit throws is reported, whether the process was alive or dead", async () => {
    const seen: Array<unknown> = []
    const loud = System.make({ onCrash: ({ reason }) => seen.push(reason) })
    const pid = sleeper(loud)
    const failing = (): never => {
      throw new Error("listener")
    }
    Process.onExit(pid, failing)
    Process.kill(pid)
    Process.onExit(pid, failing)
    expect(seen).toEqual([new Error("listener"), new Error("listener")])
    await System.stop(loud)
  })
})

describe("names", () => {
  test("name-001 name-002 name-003 a name has one process, a process one name, until it dies", () => {
    const pid = Process.spawn(system, () => new Promise(() => {}), { name: "one" })
    expect(Process.whereis(system, "one")).toBe(pid)
    expect(() => Process.spawn(system, () => {}, { name: "one" })).toThrow('"one" is taken')
    expect(() => Process.register("two", pid)).toThrow("dead or has a name")
    Process.kill(pid)
    expect(Process.whereis(system, "one")).toBeUndefined()
    const next = Process.spawn(system, () => new Promise(() => {}), { name: "one" })
    expect(Process.whereis(system, "one")).toBe(next)
    expect(Process.unregister(system, "one")).toBe(true)
    Process.register("two", next)
    expect(Process.info(next)?.name).toBe("two")
  })

  test("registered lists the names that are taken", () => {
    const [one, two] = ["one", "two"].map((name) => Process.spawn(system, () => new Promise(() => {}), { name }))
    expect(Process.registered(system)).toEqual(["one", "two"])
    Process.kill(one as Pid)
    Process.unregister(system, "two")
    expect([Process.registered(system), Process.isAlive(two as Pid)]).toEqual([[], true])
  })

  test("a process can be given another label, which is no name", () => {
    const pid = sleeper(system, "before")
    Process.setLabel(pid, "after")
    expect([pid.label, Process.info(pid)?.label, Process.registered(system)]).toEqual(["after", "after", []])
  })

  test("a label that is a function is asked each time somebody looks, until there is another", () => {
    const pid = sleeper(system, "before")
    let looks = 0
    Process.setLabel(pid, () => `look ${++looks}`)
    expect([pid.label, Process.info(pid)?.label]).toEqual(["look 1", "look 2"])
    Process.setLabel(pid, "after")
    expect(pid.label).toBe("after")
  })
})

describe("a match that throws", () => {
  const failing = (): never => {
    throw new Error("bad match")
  }

  test("RECV3 rejects its own receive, at a message that comes and at one that is there; the message stays", async () => {
    const pid = Process.spawn<string>(system, () => new Promise(() => {}))
    const waiting = Process.receive(pid, { match: failing })
    const patient = Process.receive(pid, { match: (message) => message === "second" })
    Process.send(pid, "first")
    await expect(waiting).rejects.toThrow("bad match")
    await expect(Process.receive(pid, { match: failing })).rejects.toThrow("bad match")
    Process.send(pid, "second")
    expect([await patient, await Process.receive(pid)]).toEqual(["second", "first"])
  })

  test("RECV3 does not keep a message from the wait behind it", async () => {
    const pid = Process.spawn<string>(system, () => new Promise(() => {}))
    const [bad, good] = [Process.receive(pid, { match: failing }), Process.receive(pid)]
    Process.send(pid, "message")
    await expect(bad).rejects.toThrow("bad match")
    expect([await good, Process.info(pid)?.queueLength]).toEqual(["message", 0])
  })

  test("RECV3 leaves no wait behind, at a message that is there", async () => {
    const pid = Process.spawn<string>(system, () => new Promise(() => {}))
    Process.send(pid, "first")
    await expect(Process.receive(pid, { match: failing })).rejects.toThrow("bad match")
    expect(Process.info(pid)?.status).toBe("busy")
  })

  test("RECV3 ends an effect with a defect", async () => {
    const reason = await exitOf((self) => Process.receiveEffect(self, { match: failing, timeout: "infinity" }))
    expect(reason).toBeUndefined()
    const pid = Process.spawn(system, (self) => Process.receiveEffect(self, { match: failing }))
    Process.send(pid, "message")
    await hop()
    expect(Process.exitReason(pid)).toEqual(new Error("bad match"))
  })
})
