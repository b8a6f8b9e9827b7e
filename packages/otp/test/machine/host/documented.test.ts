/** What XState's documentation says of the features that a host performs, against XState. */
import { Effect } from "effect"
import { expect, test } from "vitest"
import { type AnyMachineSnapshot, createActor, type EventObject, setup } from "xstate"
import { Process, StateMachine, System } from "../../../src/index.ts"
import { type Env, last, sameEverywhere } from "./bothHosts.ts"
import { hop } from "../../double/hop.ts"

const { assign, effect, fromCallback, fromEffect, hosted, raise, sendParent, sendToChild, spawnChild, stopChild } =
  StateMachine

interface Counted {
  readonly n: number
}

type AnyEvent = EventObject & { readonly by?: number; readonly id?: string; readonly output?: unknown }

const log = effect<string, Env>((text, { env }) => env.log(text))

const line = (params: string) => ({ type: "log", params }) as const

const base = setup({
  types: { context: {} as Counted, events: {} as AnyEvent },
  guards: { isFew: ({ context }) => context.n < 2, never: () => false },
  actions: { log, add: assign(({ context }) => ({ n: context.n + 1 })), again: raise({ type: "again" }) }
})

test("targets are siblings, children, ids and paths; a transition without a target leaves no state", async () => {
  const machine = hosted(
    base.createMachine({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          entry: line("+a"),
          exit: line("-a"),
          initial: "one",
          states: {
            one: { on: { sibling: "two" }, exit: line("-one") },
            two: { id: "second", initial: "deep", states: { deep: {}, deeper: { entry: line("+deeper") } } }
          },
          on: { child: ".two", away: "b", nowhere: { actions: "add" }, path: "#second.deeper" }
        },
        b: { on: { id: "#second", inside: "a.two.deeper" } }
      }
    })
  )
  const types = ["sibling", "nowhere", "path", "child", "away", "id", "away", "inside", "path"]
  const seen = await sameEverywhere(
    machine,
    types.map((type) => ({ type }))
  )
  expect(last(seen).value).toEqual({ a: { two: "deeper" } })
})

test("an inner transition comes before an outer one, also to forbid an event", async () => {
  const machine = hosted(
    base.createMachine({
      context: { n: 0 },
      initial: "guarded",
      on: { go: { actions: line("outer") } },
      states: {
        guarded: { on: { go: { guard: "never", target: "open" }, next: "forbidding" } },
        forbidding: { on: { go: {}, next: "open" } },
        open: { on: { go: { actions: line("inner") } } }
      }
    })
  )
  const types = ["go", "next", "go", "next", "go"]
  const seen = await sameEverywhere(
    machine,
    types.map((type) => ({ type }))
  )
  expect(seen.flatMap(({ log: lines }) => lines)).toEqual(["outer", "inner"])
})

test("eventless transitions are taken until none holds, and see the context of the actions before", async () => {
  const machine = hosted(
    base.createMachine({
      context: { n: 0 },
      initial: "idle",
      states: {
        idle: { on: { go: { target: "counting", actions: line("go") } } },
        counting: {
          entry: [line("+counting"), "again"],
          always: [{ guard: "isFew", target: "counting", reenter: true, actions: ["add", line("always")] }, "over"]
        },
        over: { on: { again: { actions: line("again") } } }
      }
    })
  )
  const seen = await sameEverywhere(machine, [{ type: "go" }])
  expect(last(seen)).toMatchObject({ value: "over", context: { n: 2 } })
})

test("an initial transition has actions, after the entry actions of its state", async () => {
  const machine = hosted(
    base.createMachine({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          entry: line("+a"),
          initial: { target: "inner", actions: [line("initial"), "add"] },
          states: { inner: { entry: line("+inner") }, other: {} },
          on: { again: { target: "a", reenter: true }, other: ".other" }
        }
      }
    })
  )
  const seen = await sameEverywhere(machine, [{ type: "other" }, { type: "again" }])
  expect(seen[0]?.log).toEqual(["+a", "initial", "+inner"])
})

test("a delayed transition has guards and actions, and starts again when its state is entered again", async () => {
  const machine = hosted(
    base.createMachine({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          after: {
            10: [
              { guard: "never", target: "c" },
              { guard: "isFew", target: "a", reenter: true, actions: "add" },
              { target: "b" }
            ]
          },
          on: { again: { target: "a", reenter: true } }
        },
        b: { after: { 10: { actions: line("stayed") } } },
        c: {}
      }
    })
  )
  const seen = await sameEverywhere(machine, [9, { type: "again" }, 9, 1, 10, 10, 10, 10])
  expect(last(seen)).toMatchObject({ value: "b", context: { n: 2 } })
  expect(seen.flatMap(({ log: lines }) => lines)).toEqual(["stayed"])
})

const counter = hosted(
  setup({
    types: { context: {} as Counted, events: {} as AnyEvent, input: {} as Counted },
    actions: { add: assign(({ context }) => ({ n: context.n + 1 })), tell: sendParent({ type: "counted" }) }
  }).createMachine({
    context: ({ input }) => ({ n: input.n }),
    initial: "up",
    states: { up: { on: { add: { actions: ["add", "tell"] }, end: "down" } }, down: { type: "final" } },
    output: ({ context }) => context.n
  })
)

const failing = fromEffect<never, string>(() => Effect.fail("no"))

test("children are reached by an id that a function returns; transitions of the root handle the ends of all", async () => {
  const machine = hosted(
    setup({
      types: { context: {} as Counted, events: {} as AnyEvent },
      actors: { counter, failing },
      actions: {
        log,
        open: spawnChild("counter", {
          id: ({ event }) => event.id ?? "",
          input: ({ event }) => ({ n: event.by ?? 0 })
        }),
        fail: spawnChild("failing", { id: "failing" }),
        add: sendToChild(({ event }: { readonly event: AnyEvent }) => event.id ?? "", { type: "add" }),
        end: sendToChild(({ event }: { readonly event: AnyEvent }) => event.id ?? "", { type: "end" }),
        shut: stopChild(({ event }) => event.id ?? "")
      }
    }).createMachine({
      context: { n: 0 },
      initial: "up",
      states: { up: { on: { add: { actions: "add" } } } },
      on: {
        open: { actions: "open" },
        fail: { actions: "fail" },
        end: { actions: "end" },
        shut: { actions: "shut" },
        counted: { actions: line("counted") },
        "xstate.done.actor.*": { actions: { type: "log", params: ({ event }) => `done ${String(event.output)}` } },
        "xstate.error.actor.*": { actions: { type: "log", params: ({ event }) => event.type } }
      }
    })
  )
  const seen = await sameEverywhere(machine, [
    { type: "open", id: "x", by: 1 },
    { type: "open", id: "y", by: 10 },
    { type: "add", id: "y" },
    { type: "end", id: "x" },
    { type: "fail" },
    { type: "shut", id: "x" },
    { type: "end", id: "y" }
  ])
  expect(seen.flatMap(({ log: lines }) => lines)).toEqual([
    "counted",
    "done 1",
    "xstate.error.actor.failing",
    "done 11"
  ])
})

test("a state invokes several actors in order; leaving it stops them all", async () => {
  const named = fromCallback<string, Env>(({ input, env }) => {
    env.log(`open ${input}`)
    return { close: () => env.log(`close ${input}`) }
  })
  const machine = hosted(
    setup({ types: { events: {} as AnyEvent }, actors: { named } }).createMachine({
      initial: "on",
      states: {
        on: {
          invoke: [
            { id: "first", src: "named", input: "first" },
            { src: "named", input: "second" }
          ],
          on: { again: { target: "on", reenter: true }, off: "off" }
        },
        off: {}
      }
    })
  )
  const seen = await sameEverywhere(machine, [{ type: "again" }, { type: "off" }])
  expect(seen.map(({ log: lines }) => lines)).toEqual([
    ["open first", "open second"],
    ["close first", "close second", "open first", "open second"],
    ["close first", "close second"]
  ])
})

test("a snapshot of a hosted machine has XState's `matches`, `hasTag`, `can` and `getMeta`", async () => {
  const machine = hosted(
    setup({
      types: { context: {} as Counted, events: {} as AnyEvent },
      guards: { isFew: ({ context }) => context.n < 1 },
      actions: { add: assign(({ context }) => ({ n: context.n + 1 })) }
    }).createMachine({
      context: { n: 0 },
      initial: "a",
      states: {
        a: {
          tags: "busy",
          meta: { title: "A" },
          initial: "inner",
          states: { inner: { tags: ["deep"] } },
          on: { go: { guard: "isFew", target: "b", actions: "add" } }
        },
        b: { on: { back: "a" } }
      }
    })
  )
  const system = System.make()
  const pid = StateMachine.start(system, machine)
  const actor = createActor(machine).start()
  for (const type of ["", "go", "back", "go"]) {
    if (type !== "") {
      Process.send(pid, { type })
      actor.send({ type })
    }
    await hop()
    const [ours, theirs] = [StateMachine.snapshot(pid), actor.getSnapshot()].map((snapshot: AnyMachineSnapshot) => [
      snapshot.matches("a"),
      snapshot.matches({ a: "inner" }),
      snapshot.hasTag("busy"),
      snapshot.hasTag("deep"),
      snapshot.can({ type: "go" }),
      snapshot.can({ type: "back" }),
      snapshot.getMeta(),
      [...snapshot.tags].toSorted(),
      snapshot.toJSON()
    ])
    expect(ours).toEqual(theirs)
  }
  await System.stop(system)
})
