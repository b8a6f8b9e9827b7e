/** The stored form of hosted machines: it continues in a host and under XState, from every point of a run. */
import { describe, expect, test } from "vitest"
import { type AnyMachineSnapshot, createActor, type EventObject, setup, SimulatedClock, type Snapshot } from "xstate"
import { Clock, Process, StateMachine, Sys, System } from "../../../src/index.ts"
import { hop } from "../../double/hop.ts"

const { assign, effect, fromCallback, hosted, raise, sendParent, sendTo } = StateMachine

type AnyEvent = EventObject & { readonly by?: number }

interface Env {
  readonly lines: Array<string>
}

const resource = fromCallback<{ readonly of: string }, Env>(({ input, env }) => {
  env.lines.push(`open ${input.of}`)
  return { close: () => env.lines.push(`close ${input.of}`) }
})

const child = (options: { readonly inside: boolean }) =>
  hosted(
    setup({
      types: { context: {} as { readonly n: number }, input: {} as { readonly n: number }, events: {} as AnyEvent },
      actors: { resource },
      actions: {
        add: assign(({ context }) => ({ n: context.n + 1 })),
        up: sendParent(({ context }) => ({ type: "up", by: context.n }))
      }
    }).createMachine({
      context: ({ input }) => ({ n: input.n }),
      initial: "a",
      states: {
        a: {
          invoke: { id: "r", src: "resource", input: ({ context }) => ({ of: `child ${context.n}` }) },
          on: { add: { actions: ["add", "up"] } },
          after: { 40: "b" }
        },
        b: { type: "final" }
      },
      output: ({ context }) => ({ n: context.n })
    }),
    options
  )

const machineOf = (inside: boolean) => {
  const inner = child({ inside })
  return hosted(
    setup({
      types: { context: {} as { readonly ups: ReadonlyArray<number>; readonly late: number }, events: {} as AnyEvent },
      actors: { resource, inner },
      actions: {
        put: assign(({ context, event }) => ({ ups: [...context.ups, event.by ?? 0] })),
        late: assign(({ context }) => ({ late: context.late + 1 })),
        add: sendTo("c", { type: "add" }),
        wait: raise({ type: "late" }, { delay: 25 }),
        log: effect<string, Env>((line, { env }) => void env.lines.push(line))
      }
    }).createMachine({
      context: { ups: [], late: 0 },
      initial: "idle",
      states: {
        idle: { on: { go: "busy" } },
        busy: {
          entry: { type: "log", params: "busy" },
          invoke: [
            { id: "r", src: "resource", input: { of: "parent" } },
            { id: "c", src: "inner", input: { n: 3 }, onDone: "over" }
          ],
          initial: "first",
          states: { first: { after: { 30: "second" } }, second: {} },
          on: { add: { actions: ["add", "wait"] } }
        },
        over: { on: { end: "end" } },
        end: { type: "final" }
      },
      on: { up: { actions: "put" }, late: { actions: "late" } },
      output: ({ context }) => ({ late: context.late })
    })
  )
}

type Machine = ReturnType<typeof machineOf>

const acts: ReadonlyArray<AnyEvent | number> = [
  { type: "go" },
  10,
  { type: "add" },
  10,
  { type: "add" },
  5,
  10,
  5,
  { type: "end" },
  10
]

/** What is stored, without the members that only the host writes. */
const stateOf = (stored: Snapshot<unknown>): unknown => {
  const { status, value, context, output, children } = stored as unknown as Record<string, unknown>
  const inner = Object.entries((children ?? {}) as Record<string, { readonly snapshot: Snapshot<unknown> }>)
  return {
    status,
    value,
    context,
    output,
    children: status === "active" ? inner.map(([id, { snapshot }]) => [id, stateOf(snapshot)]) : []
  }
}

const start = async (machine: Machine, clock: ReturnType<typeof Clock.test>, snapshot?: Snapshot<unknown>) => {
  const system = System.make({ clock })
  const lines: Array<string> = []
  const pid = StateMachine.start(system, machine, { env: { lines }, ...(snapshot === undefined ? {} : { snapshot }) })
  await hop()
  const act = async (what: AnyEvent | number): Promise<void> => {
    if (typeof what === "number") await clock.advance(what)
    else if (Process.isAlive(pid)) Process.send(pid, what)
    await hop()
  }
  const stored = (): Snapshot<unknown> => JSON.parse(JSON.stringify(StateMachine.persisted(pid))) as Snapshot<unknown>
  return { system, lines, pid, act, stored }
}

describe.each([{ inside: false }, { inside: true }])("with a child machine (inside: $inside)", ({ inside }) => {
  const machine = machineOf(inside)

  test("PERSIST1, PERSIST2 a machine that is stored and started again after each act does what one run does", async () => {
    const whole = await start(machine, Clock.test())
    const clock = Clock.test()
    let part = await start(machine, clock)
    for (const act of acts) {
      await whole.act(act)
      await part.act(act)
      const stored = part.stored()
      expect(stateOf(stored)).toEqual(stateOf(whole.stored()))
      await System.stop(part.system)
      part = await start(machine, clock, stored)
      expect(part.stored()).toEqual(stored)
      expect(Process.isAlive(part.pid)).toBe(Process.isAlive(whole.pid))
    }
    expect(StateMachine.output(whole.pid)).toEqual({ late: 1 })
    expect(StateMachine.snapshot(whole.pid).context).toEqual({ ups: [4, 5], late: 1 })
    await System.stop(part.system)
    await System.stop(whole.system)
  })

  test("PERSIST1 XState continues from each stored form, and the host from each of XState's", async () => {
    const hostedRun = await start(machine, Clock.test())
    for (const [index, act] of acts.entries()) {
      await hostedRun.act(act)
      const stored = hostedRun.stored()
      const lines: Array<string> = []
      const bound = StateMachine.bind(machine, { lines })
      const actor = createActor(bound, { snapshot: stored, clock: new SimulatedClock() }).start()
      expect(stateOf(JSON.parse(JSON.stringify(actor.getPersistedSnapshot())) as Snapshot<unknown>)).toEqual(
        stateOf(stored)
      )
      const theirs = JSON.parse(JSON.stringify(actor.getPersistedSnapshot())) as Snapshot<unknown>
      const again = await start(machine, Clock.test(), theirs)
      expect(stateOf(again.stored())).toEqual(stateOf(stored))
      expect(again.lines).toEqual(lines)
      const next = acts.slice(index + 1).find((one) => typeof one !== "number")
      if (next !== undefined && actor.getSnapshot().status === "active") {
        actor.send(next)
        await again.act(next)
        await hop()
        const after = JSON.parse(JSON.stringify(actor.getPersistedSnapshot())) as Snapshot<unknown>
        expect(stateOf(again.stored())).toEqual(stateOf(after))
      }
      actor.stop()
      await System.stop(again.system)
    }
    await System.stop(hostedRun.system)
  })

  test("PERSIST2 without stored delays, those of the active states start anew", async () => {
    const first = await start(machine, Clock.test())
    await first.act({ type: "go" })
    await first.act(29)
    const stored = { ...first.stored(), timers: undefined }
    await System.stop(first.system)
    const second = await start(machine, Clock.test(), JSON.parse(JSON.stringify(stored)) as Snapshot<unknown>)
    expect(second.lines).toEqual(["open parent", "open child 3"])
    await second.act(29)
    expect((StateMachine.snapshot(second.pid) as AnyMachineSnapshot).value).toEqual({ busy: "first" })
    await second.act(1)
    expect((StateMachine.snapshot(second.pid) as AnyMachineSnapshot).value).toEqual({ busy: "second" })
    await System.stop(second.system)
  })

  test("PERSIST2 a delay that has passed is over at once", async () => {
    const clock = Clock.test()
    const first = await start(machine, clock)
    await first.act({ type: "go" })
    const stored = first.stored()
    await System.stop(first.system)
    await clock.advance(100)
    const second = await start(machine, clock, stored)
    await second.act(0)
    expect((StateMachine.snapshot(second.pid) as AnyMachineSnapshot).value).toBe("over")
    await System.stop(second.system)
  })
})

test.each(["done", "stopped", "error"] as const)(
  "a machine that is started from a %s snapshot ends at once",
  async (status) => {
    const system = System.make()
    const simple = hosted(setup({}).createMachine({ initial: "a", states: { a: {} } }))
    const error = new Error("stored")
    const snapshot = {
      status,
      value: "a",
      context: {},
      children: {},
      output: undefined,
      error
    } as unknown as Snapshot<unknown>
    const pid = StateMachine.start(system, simple, { snapshot })
    expect(Process.exitReason(pid)).toEqual({ done: "normal", stopped: "shutdown", error }[status])
    await System.stop(system)
  }
)

describe("PERSIST3 a child that ended, stored before its machine handled the end", () => {
  const kid = hosted(
    setup({
      types: { events: {} as { type: "finish" } | { type: "fail" } },
      actions: {
        fail: () => {
          throw new Error("broken")
        }
      }
    }).createMachine({
      initial: "a",
      states: { a: { on: { finish: "b", fail: { actions: "fail" } } }, b: { type: "final" } },
      output: { n: 7 }
    })
  )
  const parent = hosted(
    setup({
      types: { context: {} as { readonly ends: ReadonlyArray<string> }, events: {} as AnyEvent },
      actors: { kid },
      actions: {
        note: assign(({ context, event }) => ({
          ends: [...context.ends, (event as unknown as { readonly actorId: string }).actorId]
        }))
      }
    }).createMachine({
      context: { ends: [] },
      invoke: { id: "kid", src: "kid", onDone: { actions: "note" }, onError: { actions: "note" } }
    })
  )

  test.each(["finish", "fail"] as const)("is reported after the restore, once: %s", async (type) => {
    const system = System.make({ clock: Clock.test() })
    const pid = StateMachine.start(system, parent)
    const { kid: ref } = StateMachine.snapshot(pid).children
    const process = ref === undefined ? undefined : StateMachine.pidOf(ref)
    if (process === undefined) throw new Error("the child has no process")
    // The parent does not handle events while it is suspended.
    void Sys.suspend(pid)
    Process.send(process, { type })
    await hop()
    const unhandled = JSON.stringify(StateMachine.persisted(pid))
    void Sys.resume(pid)
    await hop()
    const handled = JSON.stringify(StateMachine.persisted(pid))
    Process.kill(pid)
    for (const stored of [unhandled, handled]) {
      const again = StateMachine.start(system, parent, { snapshot: JSON.parse(stored) as Snapshot<unknown> })
      await hop()
      expect(StateMachine.snapshot(again).context).toEqual({ ends: ["kid"] })
      Process.kill(again)
    }
    await System.stop(system)
  })
})

describe("PERSIST4 a machine that refuses a stored snapshot", () => {
  const refusal = new Error("of an earlier version")
  const machine = hosted(setup({}).createMachine({ id: "picky", initial: "b", states: { b: {} } }), {
    refuses: ({ status }) => (status === "active" ? refusal : undefined)
  })
  const snapshot = { status: "active", value: "gone", context: {}, children: {} } as unknown as Snapshot<unknown>

  test("throws its error at the start, and leaves no process", async () => {
    const system = System.make({ clock: Clock.test() })
    const before = System.stats(system)
    expect(() => StateMachine.start(system, machine, { snapshot })).toThrow(refusal)
    expect(() => StateMachine.start(system, machine, { snapshot, inspect: () => {} })).toThrow(refusal)
    expect(System.stats(system)).toEqual(before)
    await System.stop(system)
  })

  test("has its error under a bare actor", () => {
    const seen: Array<unknown> = []
    const actor = createActor(StateMachine.bind(machine, {}), { snapshot })
    actor.subscribe({ error: (error) => void seen.push(error) })
    actor.start()
    expect([actor.getSnapshot().status, seen]).toEqual(["error", [refusal]])
  })
})
