/** Hosted machines as processes: order, ends, links, time and tools. */
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { type AnyActorRef, type EventObject, setup } from "xstate"
import { Clock, Observer, OtpError, Process, StateMachine, Sys, System } from "../../../src/index.ts"
import type { CrashReport, Pid } from "../../../src/index.ts"
import { hop } from "../../double/hop.ts"

const { assign, effect, fromCallback, fromEffect, hosted, raise, sendParent, sendTo, spawnChild, stopChild } =
  StateMachine

type AnyEvent = EventObject & { readonly by?: unknown; readonly id?: string }

interface Env {
  readonly lines: Array<string>
  readonly send?: (send: (event: EventObject) => void) => void
}

const log = effect<string, Env>((line, { env }) => void env.lines.push(line))
const line = (params: string) => ({ type: "log", params }) as const

const resource = fromCallback<string, Env>(({ input, env, send }) => {
  env.lines.push(`open ${input}`)
  env.send?.(send)
  return { close: () => env.lines.push(`close ${input}`) }
})

const leaf = (options: { readonly inside?: boolean }) =>
  hosted(
    setup({
      types: { input: {} as string, context: {} as { readonly name: string }, events: {} as AnyEvent },
      actors: { resource },
      actions: {
        log,
        crash: effect<undefined>(() => {
          throw new Error("crashed")
        })
      }
    }).createMachine({
      context: ({ input }) => ({ name: input }),
      id: "leaf",
      initial: "on",
      states: {
        on: {
          invoke: { id: "r", src: "resource", input: ({ context }) => context.name },
          after: { 50: { actions: line("late") } },
          on: { end: "end", crash: { actions: "crash" } }
        },
        end: { type: "final" }
      }
    }),
    { ...options, label: (input) => `leaf ${input}` }
  )

const treeOf = (options: { readonly inside?: boolean }) => {
  const child = leaf(options)
  return hosted(
    setup({
      types: { context: {} as { readonly got: ReadonlyArray<unknown> }, events: {} as AnyEvent },
      actors: { resource, child, forever: fromEffect(() => Effect.never) },
      guards: {
        bad: () => {
          throw new Error("bad guard")
        }
      },
      actions: {
        log,
        spawn: spawnChild("child", { id: "two", input: "two" }),
        stopOne: stopChild("one"),
        endOne: sendTo("one", { type: "end" }),
        crashOne: sendTo("one", { type: "crash" }),
        put: assign(({ context }, { got }: { readonly got: unknown }) => ({ got: [...context.got, got] })),
        crash: effect<undefined>(() => {
          throw new Error("crashed")
        }),
        die: effect<undefined>((_, { host }) => Process.kill(host as Pid)),
        wait: raise({ type: "late" }, { id: "late", delay: 100 })
      }
    }).createMachine({
      context: { got: [] },
      id: "tree",
      initial: "on",
      entry: "wait",
      states: {
        on: {
          entry: "spawn",
          invoke: [
            { id: "r", src: "resource", input: "root" },
            {
              id: "one",
              src: "child",
              input: "one",
              onError: { actions: { type: "put", params: ({ event }) => ({ got: event.error }) } }
            },
            { id: "f", src: "forever" }
          ],
          on: { leave: "off" }
        },
        off: {},
        end: { type: "final" }
      },
      on: {
        late: { actions: line("late") },
        end: ".end",
        bad: { guard: "bad" },
        crash: { actions: "crash" },
        die: { actions: ["die", "spawn", line("unreached")] },
        stopOne: { actions: "stopOne" },
        endOne: { actions: "endOne" },
        crashOne: { actions: "crashOne" },
        "process.exit": { actions: { type: "put", params: ({ event }) => ({ got: event }) } },
        "process.down": { actions: { type: "put", params: ({ event }) => ({ got: event }) } }
      }
    })
  )
}

const begin = async (options: { readonly inside?: boolean; readonly trapExit?: boolean } = {}) => {
  const clock = Clock.test()
  const crashes: Array<string> = []
  const system = System.make({ clock, onCrash: ({ message }) => crashes.push(message) })
  const lines: Array<string> = []
  const machine = treeOf(options)
  const env: Env = { lines }
  const pid = StateMachine.start(system, machine, { env, ...(options.trapExit === true ? { trapExit: true } : {}) })
  await hop()
  return { clock, system, lines, crashes, machine, pid, env }
}

const opened = ["open two", "open root", "open one"]
const closed = ["close one", "close root", "close two"]

const ends: Record<string, (pid: Pid<AnyEvent>) => void> = {
  killed: (pid) => Process.kill(pid),
  stopped: (pid) => StateMachine.stop(pid),
  "sent an exit signal": (pid) => Process.exit(pid, "over"),
  done: (pid) => Process.send(pid, { type: "end" }),
  "ended by an error in a guard": (pid) => Process.send(pid, { type: "bad" }),
  "ended by an error in an effect": (pid) => Process.send(pid, { type: "crash" }),
  "killed by its own effect": (pid) => Process.send(pid, { type: "die" })
}

describe.each([{ inside: false }, { inside: true }])("CPROC3 (children inside: $inside)", (options) => {
  test.each(Object.entries(ends))(
    "when it is %s, each child is closed once and each timer is cancelled",
    async (_, end) => {
      const { clock, system, lines, pid } = await begin(options)
      expect(lines).toEqual(opened)
      expect(System.stats(system)).toMatchObject({ processes: options.inside ? 1 : 3, fibers: 1, timers: 3 })
      end(pid)
      await hop()
      expect(lines.slice(3).toSorted()).toEqual(closed)
      expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
      await clock.advance(500)
      expect(lines).toHaveLength(6)
      await System.stop(system)
    }
  )

  test("when a child is stopped, ends or crashes, it alone is closed", async () => {
    for (const [type, error] of [
      ["stopOne", undefined],
      ["endOne", undefined],
      ["crashOne", new Error("crashed")]
    ] as const) {
      const { system, lines, pid, crashes } = await begin(options)
      Process.send(pid, { type })
      await hop()
      expect(lines.slice(3)).toEqual(["close one"])
      expect(StateMachine.snapshot(pid).context.got).toEqual(error === undefined ? [] : [error])
      expect(crashes).toEqual([])
      await System.stop(system)
    }
  })
})

test("CPROC3 a child that fails to close is reported, and the others are closed", async () => {
  const crashes: Array<string> = []
  const closes: Array<string> = []
  const actor = fromCallback<string>(({ input }) => ({
    close: () => {
      closes.push(input)
      throw new Error(`no ${input}`)
    }
  }))
  const machine = hosted(
    setup({ actors: { actor } }).createMachine({
      invoke: [
        { src: "actor", input: "a" },
        { src: "actor", input: "b" }
      ]
    })
  )
  const system = System.make({ onCrash: ({ message }) => crashes.push(message) })
  Process.kill(StateMachine.start(system, machine, { label: "m" }))
  expect(closes).toEqual(["a", "b"])
  expect(crashes).toEqual(["m <0.1.0> reports: Error: no a", "m <0.1.0> reports: Error: no b"])
  await System.stop(system)
})

test("CPROC3 when an effect fails, a child that a later effect of the transition stops or replaces is closed once", async () => {
  const closes: Array<string> = []
  const actor = fromCallback<string>(({ input }) => ({ close: () => closes.push(input) }))
  const machine = hosted(
    setup({
      types: { events: {} as AnyEvent },
      actors: { actor },
      actions: {
        spawnOne: spawnChild("actor", { id: "one", input: "one" }),
        spawnTwo: spawnChild("actor", { id: "two", input: "two" }),
        stopOne: stopChild("one"),
        fail: effect<undefined>(() => {
          throw new Error("failed")
        })
      }
    }).createMachine({
      entry: ["spawnOne", "spawnTwo"],
      on: { go: { actions: ["fail", "stopOne", "spawnTwo"] } }
    })
  )
  const system = System.make({ onCrash: () => {} })
  const pid = StateMachine.start(system, machine)
  Process.send(pid, { type: "go" })
  await hop()
  expect(Process.isAlive(pid)).toBe(false)
  expect(closes.toSorted()).toEqual(["one", "two"])
  await System.stop(system)
})

test("CPROC5 child machines are linked processes with labels; killing one is an error event of its parent", async () => {
  const { system, lines, pid } = await begin()
  expect(
    Observer.format(Observer.tree(system))
      .replaceAll(/ <.*>| idle.*/g, "")
      .split("\n")
  ).toEqual(["tree", "├─ leaf two", "└─ leaf one"])
  const one = StateMachine.snapshot(pid).children["one"]
  const child = one === undefined ? undefined : StateMachine.pidOf(one)
  if (child === undefined) throw new Error("the child has no process")
  expect(StateMachine.snapshot(child)).toMatchObject({ value: "on" })
  Process.kill(child)
  await hop()
  const { got } = StateMachine.snapshot(pid).context
  expect(got).toEqual([new OtpError.ProcessExit({ pid: child, reason: "killed" })])
  expect(lines.slice(3)).toEqual(["close one"])
  const two = StateMachine.snapshot(pid).children["two"]
  const other = two === undefined ? undefined : StateMachine.pidOf(two)
  if (other === undefined) throw new Error("the child has no process")
  Process.kill(other)
  await hop()
  expect(Process.exitReason(pid)).toEqual(new OtpError.ProcessExit({ pid: other, reason: "killed" }))
  await System.stop(system)
})

test("an exit signal and the end of a monitored process are events of a machine that traps exits", async () => {
  const { system, pid } = await begin({ trapExit: true })
  const friend = Process.spawn(system, () => new Promise(() => {}))
  Process.link(pid, friend)
  const ref = Process.monitor(pid, friend)
  Process.exit(friend, "gone")
  await hop()
  const { got } = StateMachine.snapshot(pid).context
  expect(got).toHaveLength(2)
  expect(got).toContainEqual({ type: "process.exit", from: friend, reason: "gone" })
  expect(got).toContainEqual({ type: "process.down", ref, pid: friend, reason: "gone" })
  await System.stop(system)
})

test("a machine that is linked to its parent ends with it", async () => {
  const { system, lines, machine, env } = await begin()
  const parent = Process.spawn(system, () => new Promise(() => {}))
  const pid = StateMachine.startLink(parent, machine, { env, trapExit: true })
  expect(lines.splice(0)).toEqual([...opened, ...opened])
  Process.kill(parent)
  await hop()
  expect(Process.exitReason(pid)).toBe("killed")
  expect(lines.toSorted()).toEqual(closed)
  await System.stop(system)
})

const order = hosted(
  setup({
    types: { events: {} as AnyEvent, context: {} as { readonly at: string } },
    actors: { resource },
    actions: {
      log,
      at: assign((_, at: string) => ({ at })),
      sees: effect<undefined, Env>((_, { env, host }) => {
        env.lines.push(StateMachine.snapshot(host as StateMachine.MachinePid<typeof order>).value)
      }),
      replies: effect<undefined, Env>((_, { env, send }) => {
        send({ type: "reply" })
        env.lines.push("sent")
      })
    }
  }).createMachine({
    context: { at: "" },
    initial: "a",
    states: {
      a: { on: { go: { target: "b", actions: ["sees", "replies", line("after")] } } },
      b: { on: { stay: {} } }
    },
    invoke: { id: "r", src: "resource", input: "r" },
    on: { reply: { actions: line("replied") }, drop: { actions: stopChild("r") }, ping: { actions: line("pinged") } }
  })
)

test("CPROC1, CPROC2 effects see the state after the transition, and what they send is handled after them", async () => {
  const system = System.make()
  const env: Env = { lines: [] }
  const pid = StateMachine.start(system, order, { env })
  Process.send(pid, { type: "go" })
  Process.send(pid, { type: "ping" })
  await hop()
  expect(env.lines).toEqual(["open r", "b", "sent", "after", "replied", "pinged"])
  await System.stop(system)
})

test("CPROC1 an event sent from outside a turn goes through the mailbox", async () => {
  const system = System.make()
  let send: (event: EventObject) => void = () => {}
  const env: Env = { lines: [], send: (given) => (send = given) }
  const pid = StateMachine.start(system, order, { env })
  StateMachine.actor(pid).send({ type: "ping" })
  send({ type: "reply" })
  expect([env.lines, Process.info(pid)?.queueLength]).toEqual([["open r"], 2])
  await hop()
  expect(env.lines).toEqual(["open r", "pinged", "replied"])
  await System.stop(system)
})

test("CPROC4 an event that waits when its child is stopped is discarded, and so are later ones", async () => {
  const system = System.make()
  let send: (event: EventObject) => void = () => {}
  const env: Env = { lines: [], send: (given) => (send = given) }
  const pid = StateMachine.start(system, order, { env })
  Process.send(pid, { type: "drop" })
  send({ type: "ping" })
  await hop()
  send({ type: "ping" })
  await hop()
  expect(env.lines).toEqual(["open r", "close r"])
  Process.kill(pid)
  send({ type: "ping" })
  expect(System.stats(system).processes).toBe(0)
  await System.stop(system)
})

test("CPROC4 the end of a child that was stopped in the same turn is discarded", async () => {
  const child = hosted(
    setup({ types: { events: {} as AnyEvent }, actions: { up: sendParent({ type: "up" }) } }).createMachine({
      initial: "a",
      states: { a: { on: { end: { target: "b", actions: "up" } } }, b: { type: "final" } }
    })
  )
  const machine = hosted(
    setup({
      types: { events: {} as AnyEvent },
      actors: { child },
      actions: { end: sendTo("c", { type: "end" }) }
    }).createMachine({
      initial: "a",
      states: {
        a: { invoke: { id: "c", src: "child", onDone: "c" }, on: { go: { actions: "end" }, up: "b" } },
        b: { invoke: { id: "c", src: "child", onDone: "c" } },
        c: {}
      }
    })
  )
  const system = System.make()
  const pid = StateMachine.start(system, machine)
  Process.send(pid, { type: "go" })
  await hop()
  expect(StateMachine.snapshot(pid).value).toBe("b")
  await System.stop(system)
})

test("CPROC6 the ends of machines: done is normal, a failed one crashes once and keeps its state", async () => {
  const { pid, crashes, system } = await begin()
  const seen: Array<unknown> = []
  StateMachine.subscribe(pid, { next: ({ status }) => seen.push(status), error: (error) => seen.push(error) })
  Process.send(pid, { type: "crash" })
  await hop()
  expect(Process.exitReason(pid)).toEqual(new Error("crashed"))
  expect(crashes).toEqual([`tree ${pid} ended: Error: crashed`])
  expect(seen).toEqual([new Error("crashed")])
  expect(StateMachine.snapshot(pid)).toMatchObject({ status: "error", value: "on", error: new Error("crashed") })
  const late: Array<unknown> = []
  StateMachine.subscribe(pid, { error: (error) => late.push(error) })
  expect(late).toEqual([new Error("crashed")])
  await System.stop(system)
})

test("a crash report shows the event and the state of a hosted machine", async () => {
  const reports: Array<CrashReport.CrashReport> = []
  const system = System.make({ onCrash: (report) => reports.push(report) })
  const pid = StateMachine.start(system, treeOf({}), { env: { lines: [] } })
  Process.send(pid, { type: "crash", by: 1 })
  await hop()
  const [report] = reports
  expect(report).toMatchObject({ kind: "machine", label: "tree", reason: new Error("crashed") })
  expect(report?.handling).toContain("crash")
  expect(report?.state).toContain("got")
  expect(reports).toHaveLength(1)
  await System.stop(system)
})

test("the reference of a machine inside another one has its state, takes events and is subscribed to", async () => {
  const { system, pid } = await begin({ inside: true })
  const one: AnyActorRef | undefined = StateMachine.snapshot(pid).children["one"]
  const seen: Array<unknown> = []
  one?.subscribe({ next: ({ status }) => seen.push(status), complete: () => seen.push("over") })
  expect(one?.getSnapshot()).toMatchObject({ value: "on" })
  one?.send({ type: "end" })
  await hop()
  expect(seen).toEqual(["done", "over"])
  expect(Process.isAlive(pid)).toBe(true)
  StateMachine.actor(pid).stop()
  expect(Process.exitReason(pid)).toBe("shutdown")
  await System.stop(system)
})

test("a machine that throws while it starts ends its process, and `start` returns", async () => {
  const crashes: Array<string> = []
  const system = System.make({ onCrash: ({ message }) => crashes.push(message) })
  const machine = hosted(
    setup({
      actions: {
        crash: effect<undefined>(() => {
          throw new Error("at once")
        })
      }
    }).createMachine({ id: "m", entry: "crash" })
  )
  const pid = StateMachine.start(system, machine)
  expect(Process.exitReason(pid)).toEqual(new Error("at once"))
  expect(crashes).toEqual([`m ${pid} ended: Error: at once`])
  await System.stop(system)
})

test("subscribers get each new snapshot and the end; one that throws is reported", async () => {
  const crashes: Array<string> = []
  const system = System.make({ onCrash: ({ message }) => crashes.push(message) })
  const env: Env = { lines: [] }
  const pid = StateMachine.start(system, order, { env, label: "m" })
  const seen: Array<string> = []
  StateMachine.subscribe(pid, () => {
    throw new Error("reader")
  })
  const all = StateMachine.subscribe(pid, { next: ({ value }) => seen.push(value), complete: () => seen.push("over") })
  const early = StateMachine.subscribe(pid, ({ value }) => seen.push(`early ${value}`))
  early.unsubscribe()
  Process.send(pid, { type: "go" })
  Process.send(pid, { type: "unknown" })
  await hop()
  expect(seen).toEqual(["b"])
  expect(crashes).toEqual([`m ${pid} reports: Error: reader`])
  StateMachine.stop(pid)
  await hop()
  expect(seen).toEqual(["b", "over"])
  expect(StateMachine.snapshot(pid).status).toBe("stopped")
  all.unsubscribe()
  await System.stop(system)
})

test("Sys reads, replaces and suspends a hosted machine", async () => {
  const { system, pid, clock, lines } = await begin()
  expect(await Sys.getState(pid)).toMatchObject({ value: "on", context: { got: [] } })
  const seen: Array<unknown> = []
  StateMachine.subscribe(pid, ({ context }) => seen.push(context.got))
  await Sys.replaceState<ReturnType<typeof StateMachine.snapshot<ReturnType<typeof treeOf>>>>(pid, (state) => ({
    ...state,
    context: { got: [1] }
  }))
  expect(seen).toEqual([[1]])
  await Sys.suspend(pid)
  Process.send(pid, { type: "leave" })
  await clock.advance(200)
  expect(StateMachine.snapshot(pid).value).toBe("on")
  await Sys.resume(pid)
  await hop()
  expect(StateMachine.snapshot(pid).value).toBe("off")
  expect(lines).toContain("late")
  await System.stop(system)
})

test("the observer shows the chart and the context of a hosted machine", async () => {
  const { system, pid } = await begin()
  expect(Observer.inspect(pid)).toMatchObject({ kind: "machine", chart: { machine: "tree", value: "on" } })
  expect(StateMachine.output(pid)).toBe(undefined)
  await System.stop(system)
})
