import { Effect, Stream } from "effect"
import { describe, expect, test } from "vitest"
import type { AnyActorRef, InspectionEvent } from "xstate"
import {
  assign,
  createActor,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  sendParent,
  setup,
  SimulatedClock,
  type Snapshot
} from "xstate"
import { Observer, OtpError, Process, StateMachine, Sys, System, Telemetry } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"

const empty = { processes: 0, fibers: 0, timers: 0, closing: 0 }
const nothing: unknown = undefined

const forever = () => new Promise<never>(() => {})

/** What an invoked actor holds, and whether it was released. */
class Held {
  released = 0
  readonly #reading = Promise.withResolvers<void>()
  /** Settles when the stream is read: the first one of a program loads the module that reads it. */
  readonly reading = this.#reading.promise
  readonly #release = () => void this.released++
  readonly logics = {
    promise: fromPromise(({ signal }) => {
      signal.addEventListener("abort", this.#release)
      return forever()
    }),
    callback: fromCallback(() => this.#release),
    observable: fromObservable(() => ({ subscribe: () => ({ unsubscribe: this.#release }) })),
    effect: StateMachine.fromEffect(() => Effect.never.pipe(Effect.ensuring(Effect.sync(this.#release)))),
    stream: StateMachine.fromStream(() =>
      Stream.never.pipe(
        Stream.onStart(Effect.sync(() => this.#reading.resolve())),
        Stream.ensuring(Effect.sync(this.#release))
      )
    ),
    machine: setup({ actors: { inner: fromCallback(() => this.#release) } }).createMachine({
      invoke: { id: "inner", src: "inner" }
    })
  }
}

type Kind = keyof Held["logics"]

const kinds: ReadonlyArray<Kind> = ["promise", "callback", "observable", "effect", "stream", "machine"]

/** A machine that invokes one actor, and says how it heard of its end. */
const invoking = (held: Held, kind: Kind) =>
  setup({ actors: { work: held.logics[kind] as Held["logics"]["callback"] } }).createMachine({
    initial: "up",
    context: { failed: nothing },
    states: {
      up: {
        invoke: {
          id: "work",
          src: "work",
          onDone: "done",
          onError: { target: "failed", actions: assign({ failed: ({ event }) => event.error }) }
        },
        on: { leave: "left" }
      },
      done: {},
      failed: {},
      left: {}
    }
  })

const childOf = (pid: StateMachine.MachinePid<never>, id = "work"): Pid<unknown> => {
  const ref = (StateMachine.actor(pid) as unknown as AnyActorRef).getSnapshot().children[id] as AnyActorRef
  const child = StateMachine.pidOf(ref)
  if (child === undefined) throw new Error(`${id} has no process`)
  return child as Pid<unknown>
}

const any = (pid: unknown) => pid as StateMachine.MachinePid<never>

const labels = (nodes: ReadonlyArray<Observer.Node>): ReadonlyArray<unknown> =>
  nodes.map(({ label, kind, children }) => [`${label}: ${kind}`, ...labels(children)])

const runs: ReadonlyArray<readonly [string, { readonly inspect?: () => void }]> = [
  ["without an inspector", {}],
  ["with an inspector", { inspect: () => {} }]
]

describe.each(runs)("a machine %s", (_how, options) => {
  test("ACTOR1 every actor invoked or spawned, at any depth, is a process below the one that did it", async () => {
    const held = new Held()
    const { logics } = held
    const machine = setup({
      actors: { ...logics, own: StateMachine.fromProcess(({ parent }) => Process.spawnLink(parent, forever)) }
    }).createMachine({
      id: "all",
      context: ({ spawn }) => ({ first: spawn("promise", { id: "early" }), later: nothing }),
      entry: [assign({ later: ({ spawn }) => spawn("callback", { id: "later" }) })],
      invoke: [
        { src: "machine" },
        { id: "own", src: "own" },
        { src: "effect" },
        { id: "lines", src: "stream" },
        { src: fromTransition((state: number) => state, 0) }
      ]
    })
    const system = System.make()
    const pid = StateMachine.start(system, machine, options)
    expect(labels(Observer.tree(system))).toEqual([
      [
        "all: machine",
        ["early: actor"],
        ["later: actor"],
        ["machine: machine", ["inner: actor"]],
        ["process: process"],
        ["effect: actor"],
        ["lines: actor"],
        ["actor: actor"]
      ]
    ])
    const { children } = StateMachine.snapshot(pid)
    expect(new Set(Object.values(children).map((child) => child && StateMachine.pidOf(child)?.label))).toEqual(
      new Set(["early", "later", "machine", "process", "effect", "lines", "actor"])
    )
    await held.reading
    await System.stop(system)
    expect([System.stats(system), held.released]).toEqual([empty, 5])
  })

  test("ACTOR1 an actor's end is that of its process: normal, its error, or shutdown", async () => {
    const system = System.make()
    const ended: Array<unknown> = []
    Telemetry.attach(system, "process", (event) => {
      if (event.name === "process.exit") ended.push([event.metadata.label, event.metadata.reason])
      if (event.name === "process.spawn") ended.push([event.metadata.label, "up", event.metadata.parent?.label])
    })
    const machine = setup({
      actors: {
        done: fromPromise(() => Promise.resolve(1)),
        failed: fromPromise(() => Promise.reject(new Error("no"))),
        idle: fromPromise(forever)
      }
    }).createMachine({
      id: "m",
      initial: "a",
      states: {
        a: { invoke: { id: "one", src: "done", onDone: "b" } },
        b: { invoke: { id: "two", src: "failed", onError: "c" } },
        c: { invoke: { id: "three", src: "idle" }, always: "d" },
        d: { invoke: { id: "four", src: "idle" }, on: { go: "e" } },
        e: {}
      }
    })
    const pid = StateMachine.start(system, machine, options)
    await hop()
    Process.send(pid, { type: "go" })
    await hop()
    expect(ended).toEqual([
      ["m", "up", undefined],
      ["one", "up", "m"],
      ["one", "normal"],
      ["two", "up", "m"],
      ["two", new Error("no")],
      ["four", "up", "m"],
      ["four", "shutdown"]
    ])
    await System.stop(system)
  })

  test.each(kinds)("ACTOR2 ending the process of a %s is its actor's error, once, and releases it", async (kind) => {
    for (const reason of ["boom", "kill", "normal"]) {
      const held = new Held()
      const crashes: Array<unknown> = []
      const system = System.make({ onCrash: (report) => crashes.push(report) })
      const pid = StateMachine.start(system, invoking(held, kind), options)
      await hop()
      const child = childOf(any(pid))
      const info = Process.info(child)
      expect([info?.parent === pid, info?.links.includes(pid)]).toEqual([true, true])
      Process.exit(child, reason, child)
      expect(Process.isAlive(child)).toBe(false)
      await hop()
      expect([reason, held.released]).toEqual([reason, 1])
      const { value, context } = StateMachine.snapshot(pid)
      expect(value).toBe(reason === "normal" ? "done" : "failed")
      if (reason !== "normal") {
        expect(context.failed).toBeInstanceOf(OtpError.ProcessExit)
        const failed = context.failed as OtpError.ProcessExit
        expect([failed.pid === child, failed.reason]).toEqual([true, reason === "kill" ? "killed" : reason])
      }
      expect([Process.isAlive(pid), System.stats(system)]).toEqual([true, { ...empty, processes: 1 }])
      expect(crashes).toEqual([])
      await System.stop(system)
    }
  })

  test.each(kinds)("ACTOR3 the end of the host ends a %s, and releases it once", async (kind) => {
    const ends: ReadonlyArray<(pid: StateMachine.MachinePid<never>) => void> = [
      (pid) => Process.kill(pid),
      (pid) => Process.exit(pid, "boom"),
      (pid) => StateMachine.stop(pid),
      (pid) => StateMachine.actor(pid).stop()
    ]
    for (const end of ends) {
      const held = new Held()
      const system = System.make()
      const pid = StateMachine.start(system, invoking(held, kind), options)
      await hop()
      const child = childOf(any(pid))
      end(any(pid))
      await hop()
      expect([Process.isAlive(child), held.released, System.stats(system)]).toEqual([false, 1, empty])
    }
  })

  test("ACTOR2 the end of a process that the machine has no use for is the machine's own", async () => {
    const crashes: Array<string> = []
    const system = System.make({ onCrash: (report) => crashes.push(report.label) })
    const machine = setup({ actors: { work: fromPromise(forever) } }).createMachine({
      id: "m",
      invoke: { id: "work", src: "work" }
    })
    const pid = StateMachine.start(system, machine, options)
    const child = childOf(any(pid))
    Process.exit(child, "boom")
    await hop()
    expect(Process.exitReason(pid)).toBeInstanceOf(OtpError.ProcessExit)
    expect((Process.exitReason(pid) as OtpError.ProcessExit).pid === child).toBe(true)
    expect([crashes, System.stats(system)]).toEqual([["m"], empty])
  })

  test("ACTOR2 nothing comes of an actor whose process was ended", async () => {
    let sendBack: ((event: { readonly type: string }) => void) | undefined
    const machine = setup({
      actors: {
        work: fromCallback((given) => {
          sendBack = given.sendBack
        })
      }
    }).createMachine({
      context: { seen: [] as ReadonlyArray<string> },
      invoke: { id: "work", src: "work" },
      on: { "*": { actions: assign({ seen: ({ context, event }) => [...context.seen, event.type] }) } }
    })
    const system = System.make()
    const pid = StateMachine.start(system, machine, options)
    sendBack?.({ type: "before" })
    Process.kill(childOf(any(pid)))
    sendBack?.({ type: "after" })
    await hop()
    sendBack?.({ type: "late" })
    await hop()
    expect(StateMachine.snapshot(pid).context.seen).toEqual(["before", "xstate.error.actor.work"])
    await System.stop(system)
  })

  test("ATREE4 the end of an actor is not taken for that of the one in its place", async () => {
    const machine = setup({ actors: { work: fromPromise(forever) } }).createMachine({
      initial: "up",
      states: {
        up: { invoke: { id: "work", src: "work", onError: "failed" }, on: { again: { target: "up", reenter: true } } },
        failed: {}
      }
    })
    const system = System.make()
    const pid = StateMachine.start(system, machine, options)
    const child = childOf(any(pid))
    Process.send(pid, { type: "again" })
    Process.kill(child)
    await hop()
    expect(StateMachine.snapshot(pid).value).toBe("up")
    expect(childOf(any(pid))).not.toBe(child)
    await System.stop(system)
  })

  test("ATREE1 what a promise, a callback or a sender outside causes is handled in a turn of a process", async () => {
    const states: Array<unknown> = []
    let sendBack: ((event: { readonly type: string }) => void) | undefined
    const inner = setup({}).createMachine({ initial: "a", states: { a: { on: { go: "b" } }, b: { type: "final" } } })
    const machine = setup({
      actors: {
        inner,
        callback: fromCallback((given) => {
          sendBack = given.sendBack
        })
      }
    }).createMachine({
      initial: "one",
      states: {
        one: { invoke: { src: "callback" }, on: { next: "two" } },
        two: { invoke: { id: "inner", src: "inner", onDone: "three" } },
        three: {}
      }
    })
    const system = System.make()
    const pid = StateMachine.start(system, machine, options)
    const state = () => states.push(StateMachine.snapshot(pid).value)
    sendBack?.({ type: "next" })
    state()
    await hop()
    state()
    StateMachine.snapshot(pid).children["inner"]?.send({ type: "go" })
    expect(Process.info(childOf(any(pid), "inner"))?.queueLength).toBe(1)
    state()
    await hop()
    state()
    expect(states).toEqual(["one", "two", "two", "three"])
    await System.stop(system)
  })

  test("ATREE1 what an actor sends to another of its tree in a turn is handled at once", async () => {
    const seen: Array<unknown> = []
    const inner = setup({}).createMachine({
      initial: "a",
      states: { a: { on: { go: { target: "b", actions: sendParent({ type: "gone" }) } } }, b: {} }
    })
    const machine = setup({ actors: { inner } }).createMachine({
      initial: "up",
      invoke: { id: "inner", src: "inner" },
      states: {
        up: {
          on: {
            notify: {
              actions: ({ self }) => {
                const child = self.getSnapshot().children["inner"] as AnyActorRef
                child.send({ type: "go" })
                seen.push(child.getSnapshot().value)
              }
            },
            gone: "observed"
          }
        },
        observed: {}
      }
    })
    const system = System.make()
    const pid = StateMachine.start(system, machine, options)
    StateMachine.subscribe(pid, ({ value }) => seen.push(value))
    Process.send(pid, { type: "notify" })
    await hop()
    expect(seen).toEqual(["b", "up", "observed"])
    await System.stop(system)
  })

  test("ATREE2 what an actor spawns is spawned by its own process, whoever's event it was", async () => {
    const spawned: Record<string, Pid> = {}
    const system = System.make()
    const note = (name: string) => () => {
      spawned[name] = sleeper(system, name)
    }
    const inner = setup({
      actors: {
        work: fromPromise(() => {
          note("promise")()
          return Promise.resolve()
        })
      }
    }).createMachine({
      initial: "a",
      entry: note("inner entry"),
      states: {
        a: { invoke: { id: "work", src: "work", onDone: { target: "b", actions: note("inner") } } },
        b: { type: "final" }
      }
    })
    const machine = setup({ actors: { inner } }).createMachine({
      initial: "up",
      states: { up: { invoke: { id: "inner", src: "inner", onDone: "over" } }, over: { entry: note("outer") } }
    })
    const pid = StateMachine.start(system, machine, { ...options, label: "outermost" })
    const child = childOf(any(pid), "inner")
    const work = childOf(any(child))
    const parentOf = (name: string) => Process.info(spawned[name] as Pid)?.parent
    expect([parentOf("inner entry") === child, parentOf("promise") === work]).toEqual([true, true])
    const seen: Array<unknown> = []
    Telemetry.attach(system, "process.spawn", ({ metadata }) => seen.push([metadata.label, metadata.parent?.label]))
    await hop()
    expect(seen).toEqual([
      ["inner", "inner"],
      ["outer", "outermost"]
    ])
    await System.stop(system)
  })

  test("ATREE2 a suspended machine takes no event of its children, and takes them all when resumed", async () => {
    const gate = Promise.withResolvers<number>()
    const machine = setup({ actors: { work: fromPromise(() => gate.promise) } }).createMachine({
      initial: "up",
      states: { up: { invoke: { id: "work", src: "work", onDone: "over" } }, over: {} }
    })
    const system = System.make()
    const pid = StateMachine.start(system, machine, options)
    const child = childOf(any(pid))
    await Sys.suspend(pid)
    gate.resolve(1)
    await hop()
    expect([StateMachine.snapshot(pid).value, Process.exitReason(child)]).toEqual(["up", "normal"])
    await Sys.resume(pid)
    await hop()
    expect(StateMachine.snapshot(pid).value).toBe("over")
    await System.stop(system)
  })

  test("ATREE3 a machine that ends its own process starts nothing more", async () => {
    let began = 0
    const machine = setup({
      actors: {
        work: fromPromise(() => {
          began++
          return forever()
        })
      }
    }).createMachine({
      initial: "up",
      states: {
        up: { on: { go: { target: "on", actions: () => Process.kill(pid) } } },
        on: { invoke: { src: "work" } }
      }
    })
    const system = System.make()
    const pid: Pid<{ type: "go" }> = StateMachine.start(system, machine, options)
    Process.send(pid, { type: "go" })
    await hop()
    expect([Process.exitReason(pid), began, System.stats(system)]).toEqual(["killed", 0, empty])
  })

  test("ATREE5 an actor that stands for a process shows as that one, below the actor that invoked it", async () => {
    const inner = setup({
      actors: { own: StateMachine.fromProcess(({ parent }) => Process.spawnLink(parent, forever, { label: "own" })) }
    }).createMachine({ invoke: { id: "own", src: "own" } })
    const machine = setup({ actors: { inner } }).createMachine({
      id: "m",
      initial: "up",
      states: { up: { invoke: { id: "inner", src: "inner", onError: "failed" } }, failed: {} }
    })
    const system = System.make()
    const pid = StateMachine.start(system, machine, options)
    expect(labels(Observer.tree(system))).toEqual([["m: machine", ["inner: machine", ["own: process"]]]])
    const own = childOf(any(childOf(any(pid), "inner")), "own")
    Process.exit(own, "boom")
    await hop()
    expect(StateMachine.snapshot(pid).value).toBe("failed")
    expect(System.stats(system)).toEqual({ ...empty, processes: 1 })
    await System.stop(system)
  })

  test("ACTOR3 a machine below that fails ends what it invoked, and only that", async () => {
    const held = new Held()
    const inner = setup({ actors: held.logics }).createMachine({
      invoke: [{ src: "promise" }, { src: "machine" }],
      on: {
        fail: {
          actions: () => {
            throw new Error("broken")
          }
        }
      }
    })
    const other = new Held()
    const machine = setup({ actors: { inner, other: other.logics.callback } }).createMachine({
      initial: "up",
      invoke: { src: "other" },
      states: { up: { invoke: { id: "inner", src: "inner", onError: "failed" } }, failed: {} }
    })
    const system = System.make()
    const pid = StateMachine.start(system, machine, options)
    const child = childOf(any(pid), "inner")
    Process.send(child, { type: "fail" })
    await hop()
    expect(Process.exitReason(child)).toEqual(new Error("broken"))
    expect([StateMachine.snapshot(pid).value, held.released, other.released]).toEqual(["failed", 2, 0])
    await System.stop(system)
    expect(other.released).toBe(1)
  })

  test("a child can be linked, monitored and read like any process", async () => {
    const inner = setup({}).createMachine({
      initial: "a",
      states: { a: { on: { go: "b" } }, b: { type: "final" } },
      output: 7
    })
    const machine = setup({ actors: { inner } }).createMachine({
      initial: "up",
      states: { up: { invoke: { id: "inner", src: "inner", onDone: "over" } }, over: {} }
    })
    const crashes: Array<unknown> = []
    const system = System.make({ onCrash: (report) => crashes.push(report.reason) })
    const pid = StateMachine.start(system, machine, options)
    const ref = StateMachine.snapshot(pid).children["inner"]
    const child = ref && StateMachine.pidOf(ref)
    if (child === undefined) throw new Error("no process")
    const seen: Array<unknown> = []
    StateMachine.subscribe(child, () => {
      throw new Error("reader")
    })
    StateMachine.subscribe(child, (snapshot) => seen.push(snapshot.value))
    const main = sleeper(system)
    Process.monitor(main, child)
    Process.link(main, child)
    expect(StateMachine.snapshot(child).value).toBe("a")
    Process.send(child as Pid<{ type: string }>, { type: "go" })
    await hop()
    expect(seen).toEqual(["b"])
    expect(crashes).toEqual([new Error("reader")])
    expect([StateMachine.output(child), Process.info(main)?.queueLength, Process.isAlive(main)]).toEqual([7, 1, true])
    await System.stop(system)
  })
})

test("a restored machine's children are processes, and ending them is heard of", async () => {
  const held = new Held()
  const system = System.make()
  const machine = invoking(held, "machine")
  const first = StateMachine.start(system, machine)
  const snapshot = StateMachine.persisted(first)
  Process.kill(first)
  const second = StateMachine.start(system, machine, { snapshot, label: "again" })
  expect(labels(Observer.tree(system))).toEqual([["again: machine", ["work: machine", ["inner: actor"]]]])
  Process.exit(childOf(any(second)), "boom")
  await hop()
  expect([StateMachine.snapshot(second).value, held.released]).toEqual(["failed", 2])
  await System.stop(system)
  expect(System.stats(system)).toEqual(empty)
})

test("under a bare createActor an actor has no process, and XState's own ways", () => {
  const inner = setup({}).createMachine({ initial: "a", states: { a: { on: { go: "b" } }, b: {} } })
  const actor = createActor(
    setup({ actors: { inner } }).createMachine({ invoke: { id: "inner", src: "inner" } })
  ).start()
  const child = actor.getSnapshot().children["inner"]
  child?.send({ type: "go" })
  expect([StateMachine.pidOf(actor), child?.getSnapshot().value]).toEqual([undefined, "b"])
  actor.stop()
})

test("fromProcess has the output of a hosted machine", async () => {
  const child = StateMachine.hosted(
    setup({}).createMachine({ initial: "over", states: { over: { type: "final" } }, output: 7 })
  )
  const process = StateMachine.fromProcess<number>(({ parent }) => StateMachine.startLink(parent, child))
  const bare = createActor(process).start()
  expect(bare.getSnapshot()).toMatchObject({ status: "done", output: 7 })
})

test("an effect that ends the process of its chart leaves no timer of that transition", async () => {
  const system = System.make()
  const machine = StateMachine.hosted(
    setup({
      actions: {
        end: StateMachine.effect<unknown>((_, { host }) => Process.kill(any(host)))
      }
    }).createMachine({
      initial: "idle",
      states: { idle: { on: { go: "waiting" } }, waiting: { entry: "end", after: { 1_000_000: "idle" } } }
    })
  )
  const pid = StateMachine.start(system, machine)
  StateMachine.actor(pid).send({ type: "go" })
  await hop()
  expect([Process.isAlive(pid), System.stats(system)]).toEqual([false, empty])
  await System.stop(system)
})

test("a bound machine that a bare createActor restores schedules the delayed events of its states once again", () => {
  const machine = setup({
    guards: { never: () => false },
    delays: { soon: ({ context }) => context.ms },
    types: { context: {} as { readonly ms: number } }
  }).createMachine({
    context: { ms: 20 },
    initial: "outer",
    states: {
      outer: {
        initial: "inner",
        after: { soon: [{ guard: "never", target: "never" }, { target: ".later" }] },
        states: { inner: {}, later: { after: { 30: "inner" } } }
      },
      never: {}
    }
  })
  const first = createActor(machine, { clock: new SimulatedClock() }).start()
  const snapshot: Snapshot<unknown> = JSON.parse(JSON.stringify(first.getPersistedSnapshot()))
  first.stop()
  const clock = new SimulatedClock()
  const actor = createActor(StateMachine.bind(machine, {}), { snapshot, clock }).start()
  const values: Array<unknown> = []
  actor.subscribe(({ value }) => values.push(value))
  for (const ms of [19, 1, 29, 1, 1_000]) clock.increment(ms)
  expect(values).toEqual([{ outer: "later" }, { outer: "inner" }])
  actor.stop()
})

test("ATREE7 an observer as the inspector gets the events that a function gets, and its error is a report", async () => {
  const reports: Array<unknown> = []
  const system = System.make({ onCrash: ({ reason }) => void reports.push(reason) })
  const machine = setup({}).createMachine({ id: "m", initial: "off", states: { off: { on: { go: "on" } }, on: {} } })
  const inspector = {
    types: [] as Array<string>,
    next({ type }: InspectionEvent) {
      this.types.push(type)
      if (type === "@xstate.actor") throw new Error("mine")
    }
  }
  const types: Array<string> = []
  const started = (inspect: StateMachine.Options<typeof machine>["inspect"] & {}) =>
    StateMachine.start(system, machine, { inspect })
  Process.send(
    started(({ type }) => void types.push(type)),
    { type: "go" }
  )
  Process.send(started(inspector), { type: "go" })
  await hop()
  expect(inspector.types).toEqual(types)
  expect(types).toContain("@xstate.snapshot")
  expect(reports).toEqual([new Error("mine")])
  StateMachine.stop(started({ complete: () => {} }))
  await System.stop(system)
})

test("ATREE1 an inspector of a running machine gets its events from then on, and the others go on", async () => {
  const system = System.make()
  const machine = setup({ actors: { idle: fromCallback(() => {}) } }).createMachine({
    initial: "off",
    states: { off: { on: { go: "on" } }, on: { invoke: { id: "child", src: "idle" } } }
  })
  const pid = StateMachine.start(system, machine)
  const observed: Array<string> = []
  StateMachine.actor(pid).system.inspect(({ type, actorRef }) => {
    if (type === "@xstate.actor" || type === "@xstate.snapshot")
      observed.push(`${type} ${(actorRef as AnyActorRef).id}`)
  })
  Process.send(pid, { type: "go" })
  await hop()
  const { child } = StateMachine.snapshot(pid).children
  expect(child && StateMachine.pidOf(child)?.label).toBe("child")
  expect(observed).toContain("@xstate.actor child")
  expect(observed).toContain("@xstate.snapshot child")
  await System.stop(system)
})

test("ATREE6, ATREE7 an event that waits for its process is shown once, by its sender, and to no subscriber before", async () => {
  const system = System.make()
  const gate = Promise.withResolvers<number>()
  const machine = setup({ actors: { work: fromPromise(() => gate.promise) } }).createMachine({
    id: "m",
    initial: "up",
    states: { up: { invoke: { id: "work", src: "work", onDone: "over" } }, over: {} }
  })
  const seen: Array<string> = []
  const nameOf = (ref: unknown) => (ref as AnyActorRef | undefined)?.id
  const pid = StateMachine.start(system, machine, {
    inspect: (event) => {
      if (event.type === "@xstate.event" && event.event.type !== "xstate.init") {
        seen.push(`${event.event.type} ${nameOf(event.sourceRef)}`)
      }
      if (event.type === "@xstate.snapshot") seen.push(`${nameOf(event.actorRef)} is ${event.snapshot.status}`)
    }
  })
  const work = StateMachine.snapshot(pid).children["work"]
  work?.subscribe(({ status }) => seen.push(`work shows ${status}`))
  seen.length = 0
  const child = childOf(any(pid))
  await Sys.suspend(child)
  gate.resolve(1)
  await hop()
  expect([seen, Process.info(child)?.queueLength]).toEqual([[], 1])
  await Sys.resume(child)
  await hop()
  expect(seen.filter((line) => !line.includes(`${nameOf(StateMachine.actor(pid))} is`))).toEqual([
    "xstate.promise.resolve work",
    "work shows done",
    "xstate.done.actor.work work",
    "work is done"
  ])
  await System.stop(system)
})
