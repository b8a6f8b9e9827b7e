import { expectTypeOf } from "vitest"
import { type InspectionEvent, setup, type Observer as XStateObserver } from "xstate"
import { Process, StateMachine } from "../../src/index.ts"
import type { Pid, System } from "../../src/index.ts"

const machine = setup({
  types: {
    input: {} as { readonly from: number },
    context: {} as { readonly count: number },
    events: {} as { readonly type: "add"; readonly by: number } | { readonly type: "stop" },
    output: {} as { readonly total: number }
  }
}).createMachine({
  context: ({ input }) => ({ count: input.from }),
  initial: "counting",
  states: { counting: { on: { stop: "done" } }, done: { type: "final" } },
  output: ({ context }) => ({ total: context.count })
})

declare const system: System.System
declare const parent: Pid

const pid = StateMachine.start(system, machine, { input: { from: 1 } })

declare const observer: XStateObserver<InspectionEvent>
StateMachine.start(system, machine, { input: { from: 1 }, inspect: observer })
StateMachine.start(system, machine, { input: { from: 1 }, inspect: ({ actorRef }) => void actorRef })
// @ts-expect-error an inspector takes inspection events
StateMachine.start(system, machine, { input: { from: 1 }, inspect: { next: (text: string) => void text } })

Process.send(pid, { type: "add", by: 2 })
Process.send(pid, { type: "stop" })
// @ts-expect-error it has no such event
Process.send(pid, { type: "remove" })
// @ts-expect-error the event lacks its data
Process.send(pid, { type: "add" })
// @ts-expect-error an event is an object
Process.send(pid, "stop")

expectTypeOf(StateMachine.output(pid)).toEqualTypeOf<{ readonly total: number } | undefined>()
expectTypeOf(StateMachine.snapshot(pid).context).toEqualTypeOf<{ readonly count: number }>()
expectTypeOf(StateMachine.snapshot(pid).value).toEqualTypeOf<"counting" | "done">()
StateMachine.subscribe(pid, (snapshot) => expectTypeOf(snapshot.context.count).toEqualTypeOf<number>())

// @ts-expect-error the input is a number
StateMachine.start(system, machine, { input: { from: "1" } })
// @ts-expect-error the machine has an input
StateMachine.startLink(parent, machine)
// @ts-expect-error the machine has an input
StateMachine.start(system, machine, { name: "counter" })
StateMachine.start(system, machine, { snapshot: StateMachine.persisted(pid) })

const plain = setup({}).createMachine({})
StateMachine.start(system, plain)
StateMachine.startLink(parent, plain, { name: "plain" })
// @ts-expect-error it takes no input
StateMachine.start(system, plain, { inputs: 1 })

/** Calls of a machine: its events with `from`. */
const { insert, postpone, reply, stateTimeout, timeout } = StateMachine
const shop = StateMachine.hosted(
  setup({
    types: {
      context: {} as { readonly stock: number; readonly kept?: StateMachine.From<number> },
      events: {} as
        | { readonly type: "stock"; readonly from: StateMachine.From<number> }
        | { readonly type: "buy"; readonly item: string; readonly from: StateMachine.From<"sold" | "none"> }
        | { readonly type: "open" }
    },
    actions: {
      postpone,
      stock: reply(({ context }) => context.stock),
      named: reply((_, { word }: { readonly word: "sold" | "none" }) => word),
      // @ts-expect-error no event expects a text like this
      wrong: reply(({ event }) => event.type),
      // @ts-expect-error the kept call expects a number
      late: reply("sold", ({ context }) => context.kept),
      kept: reply(
        ({ context }) => context.stock,
        ({ context }) => context.kept
      ),
      open: insert({ type: "open" }),
      close: stateTimeout({ type: "open" }, ({ context }) => context.stock),
      later: timeout(
        "slow",
        () => ({ type: "open" }),
        (_, ms: number) => ms
      )
    }
  }).createMachine({
    context: { stock: 1 },
    entry: [{ type: "later", params: 5 }, "close", "open"],
    on: {
      stock: { actions: "stock" },
      buy: { actions: [{ type: "named", params: { word: "sold" } }, "postpone"] }
    }
  })
)
setup({
  types: {
    events: {} as
      | { readonly type: "stock"; readonly from: StateMachine.From<number> }
      | { readonly type: "buy"; readonly from: StateMachine.From<"sold" | "none"> }
  }
}).createMachine({
  on: {
    stock: { actions: reply(1) },
    // @ts-expect-error a call of this event expects a word
    buy: { actions: reply(1) }
  }
})
const open = StateMachine.start(system, shop)
expectTypeOf(StateMachine.call(open, { type: "stock" })).toEqualTypeOf<Promise<number>>()
expectTypeOf(StateMachine.call(open, { type: "buy", item: "a" })).toEqualTypeOf<Promise<"sold" | "none">>()
// @ts-expect-error the event lacks its data
void StateMachine.call(open, { type: "buy" })
// @ts-expect-error the event has no reply
void StateMachine.call(open, { type: "open" })
// @ts-expect-error the machine has no calls
void StateMachine.call(pid, { type: "stop" })
setup({
  types: { events: {} as { readonly type: "open" } },
  actions: {
    open: insert({ type: "open" }),
    // @ts-expect-error the machine has no such event
    close: insert({ type: "close" })
  }
})
