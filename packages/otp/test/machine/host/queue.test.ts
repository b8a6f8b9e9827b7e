/** The queue of a hosted machine. `pnpm conformance gen-statem` compares it with recorded runs of OTP. */
import { expect, test } from "vitest"
import { type AnyStateMachine, createActor, setup } from "xstate"
import { Clock, Process, StateMachine, System } from "../../../src/index.ts"
import { hop } from "../../double/hop.ts"
import { type Env, last, sameEverywhere } from "./bothHosts.ts"

const { assign, cancel, effect, eventTimeout, hosted, insert, postpone, raise, stateTimeout, timeout } = StateMachine

const base = setup({
  types: { context: {} as { readonly n: number }, events: {} as { readonly type: string } },
  actions: {
    log: effect<string, Env>((line, { env }) => env.log(line)),
    show: effect<string, Env>((line, { env }) => env.log(line)),
    count: assign({ n: ({ context }) => context.n + 1 }),
    postpone,
    raise: raise((_, type: string) => ({ type })),
    insert: insert((_, type: string) => ({ type })),
    timeout: timeout("slow", { type: "slow" }, (_, ms: number) => ms),
    numbered: timeout("slow", ({ context }) => ({ type: `slow${context.n}` }), 10),
    stop: cancel("slow"),
    stateTimeout: stateTimeout({ type: "late" }, (_, ms: number) => ms),
    eventTimeout: eventTimeout({ type: "idle" }, (_, ms: number) => ms)
  }
})

const line = (params: string) => ({ type: "log", params }) as const
const inserted = (params: string) => ({ type: "insert", params }) as const
const logging = (...types: ReadonlyArray<string>) =>
  Object.fromEntries(types.map((type) => [type, { actions: line(type) }] as const))

const event = (type: string) => ({ type })
const context = { n: 0 }

/** A machine that postpones `a` and `b` in its first state. */
const printer = hosted(
  base.createMachine({
    context,
    initial: "warming",
    states: {
      warming: {
        on: {
          a: { actions: "postpone" },
          b: { actions: "postpone" },
          again: { target: "warming", reenter: true, actions: line("again") },
          ready: { target: "on", actions: inserted("c") }
        }
      },
      on: { entry: line("on"), on: logging("a", "b", "c") }
    }
  })
)

test("EVQ1 when the state changes, the postponed events follow what the change inserted, the oldest first", async () => {
  const seen = await sameEverywhere(printer, [event("a"), event("b"), event("a"), event("again"), event("ready")])
  expect(seen.map(({ log }) => log)).toEqual([[], [], [], [], ["again"], ["on", "c", "a", "b", "a"]])
  expect(seen.at(4)?.context).toEqual({ n: 0, postponed: [event("a"), event("b"), event("a")] })
  expect(last(seen).context).toEqual({ n: 0 })
})

test("EVQ1 when an event is inserted, it comes before inserted and postponed events that wait, and after raised ones", async () => {
  const machine = hosted(
    base.createMachine({
      context,
      initial: "one",
      states: {
        one: { on: { p: { actions: "postpone" }, go: { target: "two", actions: [inserted("x"), inserted("y")] } } },
        two: {
          on: {
            x: { actions: [line("x"), inserted("z"), { type: "raise", params: "r" }] },
            ...logging("y", "z", "p", "r")
          }
        }
      }
    })
  )
  expect(last(await sameEverywhere(machine, [event("p"), event("go")])).log).toEqual(["x", "r", "z", "y", "p"])
})

test("EVQ1 when an event changes the state and postpones itself, it is taken again in the new state", async () => {
  const machine = hosted(
    base.createMachine({
      context,
      initial: "one",
      states: { one: { on: { go: { target: "two", actions: "postpone" } } }, two: { on: logging("go") } }
    })
  )
  expect(last(await sameEverywhere(machine, [event("go")])).log).toEqual(["go"])
})

test("EVQ2 when the state changes, its state timeout ends; one that the same event set stays", async () => {
  const machine = hosted(
    base.createMachine({
      context,
      entry: { type: "stateTimeout", params: 5 },
      initial: "one",
      states: {
        one: {
          on: {
            late: { actions: line("late in one") },
            set: { actions: { type: "stateTimeout", params: 20 } },
            go: "two",
            renew: { target: "two", actions: { type: "stateTimeout", params: 30 } }
          }
        },
        two: { on: { late: { actions: line("late in two") } } }
      }
    })
  )
  const log = async (...acts: Parameters<typeof sameEverywhere>[1]) =>
    (await sameEverywhere(machine, acts)).flatMap((seen) => seen.log)
  expect(await log(5)).toEqual(["late in one"])
  expect(await log(event("set"), 19, 1)).toEqual(["late in one"])
  expect(await log(event("go"), 40)).toEqual([])
  expect(await log(event("set"), event("renew"), 29)).toEqual([])
  expect(await log(event("set"), event("renew"), 30)).toEqual(["late in two"])
})

test("EVQ2 when any event is taken, the event timeout ends, also by one that waits or is ignored", async () => {
  const machine = hosted(
    base.createMachine({
      context,
      on: {
        ...logging("idle", "x"),
        set: { actions: { type: "eventTimeout", params: 10 } },
        insert: { actions: [{ type: "eventTimeout", params: 10 }, inserted("x")] }
      }
    })
  )
  const log = async (...acts: Parameters<typeof sameEverywhere>[1]) =>
    (await sameEverywhere(machine, acts)).flatMap((seen) => seen.log)
  expect(await log(event("set"), 9, event("unknown"), 20)).toEqual([])
  expect(await log(event("set"), 9, event("set"), 9, 1)).toEqual(["idle"])
  expect(await log(event("insert"), 20)).toEqual(["x"])
})

test("EVQ3 when a timeout is set again, it starts again with its new event, in any state; `cancel` and Infinity end it", async () => {
  const machine = hosted(
    base.createMachine({
      context,
      initial: "one",
      on: {
        ...logging("slow0", "slow1", "slow2"),
        set: { actions: ["numbered", "count"] },
        stop: { actions: "stop" },
        forever: { actions: { type: "timeout", params: Infinity } }
      },
      states: { one: { on: { go: "two" } }, two: {} }
    })
  )
  const log = async (...acts: Parameters<typeof sameEverywhere>[1]) =>
    (await sameEverywhere(machine, acts)).flatMap((seen) => seen.log)
  expect(await log(event("set"), event("go"), 9, event("set"), 9, 1, 30)).toEqual(["slow1"])
  expect(await log(event("set"), event("stop"), 30)).toEqual([])
  expect(await log(event("set"), event("forever"), 30)).toEqual([])
})

test("EVQ3 when a timeout has no time, it comes after the events that wait here and before those from outside", async () => {
  const machine = hosted(
    base.createMachine({
      context,
      on: {
        ...logging("slow", "late", "idle", "x"),
        go: { actions: [{ type: "timeout", params: 0 }, { type: "stateTimeout", params: 0 }, inserted("x")] },
        both: {
          actions: [
            { type: "timeout", params: 0 },
            { type: "eventTimeout", params: 0 }
          ]
        },
        none: { actions: [{ type: "timeout", params: 0 }, "stop"] }
      }
    })
  )
  const seen = await sameEverywhere(machine, [event("go"), event("both"), event("none")])
  expect(seen.map(({ log }) => log)).toEqual([[], ["x", "slow", "late"], ["slow"], []])
})

test.each([
  [Number.NaN, "NaN"],
  [-5, "-5"],
  ["5 seconds", '"5 seconds"'],
  [undefined, "undefined"]
] as ReadonlyArray<readonly [unknown, string]>)(
  "EVQ3 when the delay of a timeout is %s, the machine fails with the reason",
  async (delay, shown) => {
    const wrong = setup({
      types: { context: {} as { readonly n: number }, events: {} as { readonly type: string } },
      actions: {
        fixed: timeout("slow", { type: "slow" }, delay as number),
        made: stateTimeout({ type: "late" }, () => delay as number)
      }
    })
    const machine = hosted(
      wrong.createMachine({ context, on: { fixed: { actions: "fixed" }, made: { actions: "made" } } })
    )
    for (const [type, id] of [
      ["fixed", "slow"],
      ["made", "stateTimeout"]
    ] as const) {
      const { status, error } = last(await sameEverywhere(machine, [event(type), 9000]))
      expect([status, error]).toEqual([
        "error",
        `the delay of the timeout "${id}" is ${shown}: make it a number of milliseconds, 0 or more, or Infinity to end it only`
      ])
    }
  }
)

test("QMACH1 when a machine is inside another, is provided or goes on from storage, it keeps its queue", async () => {
  const parent = hosted(
    setup({
      actors: { printer },
      actions: { tell: StateMachine.sendTo("p", (args: { readonly event: { readonly type: string } }) => args.event) }
    }).createMachine({
      invoke: { id: "p", src: "printer" },
      on: { a: { actions: "tell" }, ready: { actions: "tell" } }
    }) as AnyStateMachine
  )
  const logs = (await sameEverywhere(parent, [event("a"), event("ready")])).flatMap(({ log }) => log)
  expect(logs).toEqual(["on", "c", "a"])

  const lines: Array<string> = []
  const log = ({ event: { type } }: { readonly event: { readonly type: string } }) => void lines.push(type)
  const provided = createActor(printer.provide({ actions: { log } })).start()
  for (const type of ["a", "b", "ready"]) provided.send({ type })
  expect(lines).toEqual(["ready", "c", "a", "b"])

  const system = System.make({ clock: Clock.test() })
  const first = StateMachine.start(system, printer)
  Process.send(first, event("a"))
  await hop()
  const snapshot = JSON.parse(JSON.stringify(StateMachine.persisted(first))) as ReturnType<
    typeof StateMachine.persisted
  >
  const again: Array<string> = []
  const env: Env = { log: (text) => void again.push(text) }
  Process.send(StateMachine.start(system, printer, { snapshot, env }), event("ready"))
  await hop()
  await System.stop(system)
  expect(again).toEqual(["on", "c", "a"])
})

test("QACT1 when a machine that is not hosted postpones an event, it fails and says what to do", () => {
  const plain = base.createMachine({ context, on: { a: { actions: "postpone" } } })
  const failed: Array<unknown> = []
  const actor = createActor(plain)
  actor.subscribe({ error: (error) => void failed.push(error) })
  actor.start().send({ type: "a" })
  expect(String(failed[0])).toBe(
    "TypeError: The action postpone needs a hosted machine: pass the machine to StateMachine.hosted"
  )
})
