import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import type { AnyActorRef } from "xstate"
import { assign, fromCallback, fromPromise, sendTo, setup } from "xstate"
import { Clock, Process, StateMachine, System } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"

const empty = { processes: 0, fibers: 0, timers: 0, closing: 0 }

const runs: ReadonlyArray<readonly [string, { readonly inspect?: () => void }]> = [
  ["without an inspector", {}],
  ["with an inspector", { inspect: () => {} }]
]

/** Counts what was acquired and released, and the ends that a machine was notified of. */
class Ledger {
  acquired = 0
  released = 0
  ends = 0

  readonly #work = Effect.gen({ self: this }, function* () {
    for (let step = 0; step < 4; step++) {
      yield* Effect.acquireRelease(
        Effect.sync(() => this.acquired++),
        () => Effect.yieldNow.pipe(Effect.andThen(Effect.sync(() => this.released++)))
      )
      yield* Effect.sleep(1)
    }
  }).pipe(Effect.scoped)

  readonly #inner = setup({
    actors: {
      effect: StateMachine.fromEffect(() => this.#work),
      promise: fromPromise(async () => {
        for (let step = 0; step < 6; step++) await Promise.resolve()
      }),
      callback: fromCallback(() => {
        this.acquired++
        return () => void this.released++
      })
    }
  }).createMachine({
    initial: "first",
    invoke: { src: "callback" },
    states: {
      first: { invoke: { src: "promise", onDone: "second" } },
      second: { invoke: { src: "effect", onDone: "third" } },
      third: { after: { 2: "over" } },
      over: { type: "final" }
    }
  })

  readonly machine = setup({
    actors: { inner: this.#inner },
    actions: { notified: () => void this.ends++ }
  }).createMachine({
    initial: "up",
    states: {
      up: {
        invoke: {
          id: "inner",
          src: "inner",
          onDone: { target: "over", actions: "notified" },
          onError: { target: "over", actions: "notified" }
        }
      },
      over: {}
    }
  })
}

/** Lets microtasks run, so that a kill falls between two of them. */
const steps = async (count: number): Promise<void> => {
  for (let step = 0; step < count; step++) await Promise.resolve()
}

describe.each(runs)("a machine %s", (_how, options) => {
  const everywhere = async (
    end: (pid: StateMachine.MachinePid<Ledger["machine"]>, child: Pid) => void,
    check: (pid: Pid, ledger: Ledger, at: string) => void
  ): Promise<void> => {
    for (let ticks = 0; ticks < 9; ticks++) {
      for (let micro = 0; micro < 10; micro++) {
        const clock = Clock.test()
        const system = System.make({ clock })
        const ledger = new Ledger()
        const pid = StateMachine.start(system, ledger.machine, options)
        const ref = StateMachine.snapshot(pid).children["inner"]
        const child = ref && StateMachine.pidOf(ref)
        if (child === undefined) throw new Error("no child")
        if (ticks > 0) await clock.advance(ticks)
        await steps(micro)
        end(pid, child)
        await hop()
        const at = `${ticks}.${micro}`
        check(pid, ledger, at)
        Process.kill(pid)
        await hop()
        expect([at, ledger.released]).toEqual([at, ledger.acquired])
        expect([at, System.stats(system), clock.pending]).toEqual([at, empty, 0])
      }
    }
  }

  test("ACTOR2 a child that is killed at any point is reported once, and leaves nothing", () =>
    everywhere(
      (_pid, child) => Process.kill(child),
      (pid, ledger, at) => {
        expect([at, Process.isAlive(pid), ledger.ends]).toEqual([at, true, 1])
        expect(StateMachine.snapshot(pid as StateMachine.MachinePid<Ledger["machine"]>).value).toBe("over")
      }
    ))

  test("ACTOR2 a grandchild that is killed at any point ends its machine, which is reported once", () =>
    everywhere(
      (_pid, child) => {
        const { children } = StateMachine.snapshot(child as StateMachine.MachinePid<Ledger["machine"]>)
        for (const ref of Object.values(children) as ReadonlyArray<AnyActorRef>) {
          const inner = StateMachine.pidOf(ref)
          if (inner !== undefined) Process.kill(inner)
        }
      },
      (_pid, ledger, at) => expect([at, ledger.ends]).toEqual([at, 1])
    ))

  test("ACTOR3 a host that is killed at any point leaves nothing, and its machine gets nothing more", () =>
    everywhere(
      (pid) => Process.kill(pid),
      (_pid, ledger, at) => expect([at, ledger.ends <= 1]).toEqual([at, true])
    ))

  test("ACTOR3 a host and its child that end each other leave nothing", async () => {
    for (const order of ["child", "host"]) {
      const system = System.make()
      const ledger = new Ledger()
      const pid = StateMachine.start(system, ledger.machine, options)
      const ref = StateMachine.snapshot(pid).children["inner"]
      const child = ref && StateMachine.pidOf(ref)
      if (child === undefined) throw new Error("no child")
      const [first, second] = order === "child" ? [child, pid] : [pid, child]
      Process.onExit(first, () => Process.kill(second))
      Process.kill(first)
      expect([Process.isAlive(pid), Process.isAlive(child)]).toEqual([false, false])
      await hop()
      expect([ledger.ends, ledger.released, System.stats(system)]).toEqual([0, ledger.acquired, empty])
    }
  })

  test("ACTOR2 an actor that ends its own process, while it starts or at an event, is reported once", async () => {
    for (const when of ["start", "event"]) {
      let self: Pid | undefined
      let released = 0
      const end = () => {
        if (self !== undefined) Process.kill(self)
      }
      const inner = setup({ actors: { held: fromCallback(() => () => void released++) } }).createMachine({
        invoke: { src: "held" },
        entry: (args) => {
          self = StateMachine.pidOf(args.self)
          if (when === "start") end()
        },
        on: { go: { actions: end } }
      })
      const seen: Array<string> = []
      const machine = setup({ actors: { inner } }).createMachine({
        invoke: { id: "inner", src: "inner" },
        on: {
          go: { actions: sendTo("inner", { type: "go" }) },
          "xstate.error.actor.inner": { actions: ({ event }) => void seen.push(event.type) }
        }
      })
      const system = System.make()
      const pid = StateMachine.start(system, machine, options)
      await hop()
      Process.send(pid, { type: when === "event" ? "go" : "none" })
      await hop()
      expect([when, seen, released]).toEqual([when, ["xstate.error.actor.inner"], 1])
      expect([Process.exitReason(self as Pid), System.stats(system).processes]).toEqual(["killed", 1])
      await System.stop(system)
    }
  })

  test("a storm of actors spawned, ended and killed leaves nothing", async () => {
    const worker = fromCallback(() => () => {})
    const machine = setup({
      types: {
        events: {} as { type: "spawn"; count: number } | { type: "drop" },
        context: {} as { refs: Array<AnyActorRef> }
      },
      actors: { worker }
    }).createMachine({
      context: { refs: [] },
      on: {
        spawn: {
          actions: assign({
            refs: ({ event, spawn }) => Array.from({ length: event.count }, () => spawn("worker") as AnyActorRef)
          })
        },
        "*": {}
      }
    })
    const system = System.make()
    const pid = StateMachine.start(system, machine, options)
    for (let round = 0; round < 3; round++) {
      Process.send(pid, { type: "spawn", count: 100 })
      await hop()
      const { refs } = StateMachine.snapshot(pid).context
      expect(System.stats(system).processes).toBe(101)
      for (const ref of refs) Process.kill(StateMachine.pidOf(ref) as Pid)
      await hop()
      expect(System.stats(system).processes).toBe(1)
    }
    Process.send(pid, { type: "spawn", count: 100 })
    await hop()
    Process.kill(pid)
    expect(System.stats(system)).toEqual(empty)
  })
})
