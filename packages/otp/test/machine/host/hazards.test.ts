/** Hosted machines whose code keeps, shares or passes on its context, and code that fails. */
import { expect, test } from "vitest"
import { type AnyStateMachine, createActor, type EventObject, setup } from "xstate"
import { Clock, Process, StateMachine, System } from "../../../src/index.ts"
import { hop } from "../../double/hop.ts"

const { assign, effect, fromCallback, hosted, raise, sendTo } = StateMachine

interface Counted {
  readonly n: number
  readonly prev?: Counted | null
}

/** The context after two events, in a process and under XState. */
const contexts = async (machine: AnyStateMachine, input?: unknown) => {
  const system = System.make()
  const pid = StateMachine.start(system, hosted(machine), { input } as never)
  const actor = createActor(machine, { input } as never).start()
  for (let time = 0; time < 2; time++) {
    Process.send(pid as never, { type: "x" } as never)
    actor.send({ type: "x" })
  }
  await hop()
  const found = [StateMachine.snapshot(pid).context, actor.getSnapshot().context]
  await System.stop(system)
  return found
}

test("CSTEP5 a context that contains the context before is that of XState", async () => {
  const machine = setup({
    types: { context: {} as Counted, events: {} as EventObject },
    actions: { inc: assign(({ context }) => ({ n: context.n + 1, prev: context })) }
  }).createMachine({ context: () => ({ n: 0, prev: null }), on: { x: { actions: "inc" } } })
  const [host, xstate] = await contexts(machine)
  expect(host).toEqual(xstate)
  expect(JSON.stringify(host)).toBe('{"n":2,"prev":{"n":1,"prev":{"n":0,"prev":null}}}')
})

test("CSTEP5 a context that is the input, or shared, changes neither", async () => {
  const shared = Object.freeze({ n: 0 })
  const counting = (context: (args: { readonly input: Counted }) => Counted) =>
    setup({
      types: { context: {} as Counted, input: {} as Counted, events: {} as EventObject },
      actions: { inc: assign(({ context: { n } }) => ({ n: n + 1 })) }
    }).createMachine({ context, on: { x: { actions: "inc" } } })
  expect(
    await contexts(
      counting(({ input }) => input),
      shared
    )
  ).toEqual([{ n: 2 }, { n: 2 }])
  expect(
    await contexts(
      counting(() => shared),
      shared
    )
  ).toEqual([{ n: 2 }, { n: 2 }])
})

test("CSTEP5 an effect and an event that contain the context keep its present values", async () => {
  const seen: Array<number> = []
  const machine = setup({
    types: { context: {} as Counted, events: {} as EventObject },
    actions: {
      keep: effect<{ readonly of: Counted }>(({ of }) => void seen.push(of.n)),
      notify: raise(({ context }) => ({ type: "noted", of: context })),
      note: effect<{ readonly event: EventObject }>(
        ({ event }) => void seen.push((event as unknown as { readonly of: Counted }).of.n * 10)
      ),
      inc: assign(({ context }) => ({ n: context.n + 1 }))
    }
  }).createMachine({
    context: () => ({ n: 1 }),
    on: {
      x: { actions: [{ type: "keep", params: ({ context }) => ({ of: context }) }, "notify", "inc"] },
      noted: { actions: { type: "note", params: ({ event }) => ({ event }) } }
    }
  })
  const system = System.make()
  const pid = StateMachine.start(system, hosted(machine))
  for (let time = 0; time < 3; time++) Process.send(pid, { type: "x" })
  await hop()
  expect(seen).toEqual([1, 10, 2, 20, 3, 30])
  await System.stop(system)
})

test("an error in `receive` of a callback actor is the error event of its state, and the actor is closed once", async () => {
  let closed = 0
  const machine = hosted(
    setup({
      types: { events: {} as EventObject },
      actors: {
        bad: fromCallback(() => ({
          receive: () => {
            throw new Error("broken")
          },
          close: () => void closed++
        }))
      },
      actions: { poke: sendTo("bad", { type: "poke" }) }
    }).createMachine({
      initial: "a",
      states: { a: { invoke: { id: "bad", src: "bad", onError: "b" }, on: { x: { actions: "poke" } } }, b: {} }
    })
  )
  const system = System.make()
  const pid = StateMachine.start(system, machine)
  Process.send(pid, { type: "x" })
  await hop()
  expect([StateMachine.snapshot(pid).value, closed]).toEqual(["b", 1])
  await System.stop(system)
})

test("an inspector and a watcher that throw are reported, and the machine goes on", async () => {
  const crashes: Array<unknown> = []
  const system = System.make({ onCrash: ({ reason }) => void crashes.push(reason) })
  const machine = hosted(
    setup({ types: { events: {} as EventObject } }).createMachine({
      initial: "a",
      states: { a: { on: { x: "b" } }, b: {} }
    })
  )
  const fail = (): never => {
    throw new Error("broken")
  }
  for (const options of [{ inspect: fail }, {}]) {
    const pid = StateMachine.start(system, machine, options)
    if (!("inspect" in options)) StateMachine.watch(pid, fail)
    Process.send(pid, { type: "x" })
    await hop()
    expect([Process.isAlive(pid), StateMachine.snapshot(pid).value]).toEqual([true, "b"])
  }
  expect(crashes.length).toBeGreaterThanOrEqual(3)
  await System.stop(system)
})

test("a snapshot with a state or an actor that the machine does not have ends the process with an error that names it", async () => {
  const system = System.make()
  const machine = hosted(setup({}).createMachine({ id: "m", initial: "a", states: { a: {} } }))
  const stored = (more: object) => ({ status: "active", value: "a", context: {}, children: {}, ...more }) as never
  expect(() => StateMachine.start(system, machine, { snapshot: stored({ value: "zzz" }) })).toThrow(
    "The machine m has no state zzz"
  )
  const child = { c: { src: "gone", snapshot: { status: "active" }, syncSnapshot: false } }
  const pid = StateMachine.start(system, machine, { snapshot: stored({ children: child }) })
  expect(String(Process.exitReason(pid))).toContain("The machine m has no actor gone")
  await System.stop(system)
})

test.each([{}, { inspect: () => {} }, { logger: () => {} }])(
  "PERSIST2 delayed events of a stored machine wait for the rest of their time when it is started with %o",
  async (options) => {
    const machine = hosted(
      setup({
        types: { events: {} as EventObject },
        actions: { later: raise({ type: "tick" }, { id: "later", delay: 40 }) }
      }).createMachine({
        initial: "a",
        states: {
          a: { entry: "later", after: { 60: "late" }, on: { tick: "ticked" } },
          ticked: { after: { 30: "done" } },
          done: {},
          late: {}
        }
      })
    )
    const clock = Clock.test()
    const system = System.make({ clock })
    const first = StateMachine.start(system, machine)
    await clock.advance(20)
    const snapshot = JSON.parse(JSON.stringify(StateMachine.persisted(first))) as never
    const next = StateMachine.start(system, machine, { snapshot, ...options })
    await clock.advance(19)
    expect(StateMachine.snapshot(next).value).toBe("a")
    await clock.advance(1)
    expect(StateMachine.snapshot(next).value).toBe("ticked")
    await clock.advance(30)
    expect(StateMachine.snapshot(next).value).toBe("done")
    await System.stop(system)
  }
)
