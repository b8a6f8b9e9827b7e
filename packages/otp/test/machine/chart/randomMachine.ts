/** Random machines of the features that the host performs. */
import { type AnyStateMachine, type EventObject, setup } from "xstate"
import { StateMachine } from "../../../src/index.ts"
import { assign, cancel, raise, sendTo, spawnChild, stopChild } from "../../../src/machine/chart/index.ts"

/** A small generator of numbers that depends on its seed alone. */
export const numbers = (seed: number) => {
  let state = seed * 2_654_435_761 + 1
  return (below: number): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Random {
  readonly context: { readonly n: number; readonly once: number; readonly list: ReadonlyArray<number> }
  readonly event: EventObject & { readonly by?: number }
}

interface Shape {
  readonly id: string
  readonly children: ReadonlyArray<Shape>
}

export const events = ["a", "b", "c", "d"]

/** Events of children and of timers, which the random machines may handle. */
export const ends = ["xstate.done.actor.inv", "xstate.error.actor.inv", "later"]

const by = ({ event }: Random): number => event.by ?? 1

const base = setup({
  types: { context: {} as Random["context"], events: {} as Random["event"] },
  actors: { work: StateMachine.fromCallback<unknown>(() => {}) },
  delays: { soon: 10, computed: ({ context }: Random) => context.n + 5 },
  guards: {
    once: ({ context }) => context.once > 0,
    isNot: ({ context }, { rest }: { readonly rest: number }) => context.n % 3 !== rest
  },
  actions: {
    add: assign(({ context, event }) => ({ n: context.n + by({ context, event }) })),
    fields: assign({ n: ({ context }) => context.n + 2, list: ({ context }) => [...context.list, context.n] }),
    plus: assign(({ context }, { much }: { readonly much: number }) => ({ n: context.n + much })),
    spend: assign(({ context }) => ({ once: context.once - 1 })),
    note: (_args, _params: { readonly text: string; readonly n?: number }) => {},
    raised: raise({ type: "e" }),
    raisedWith: raise(({ context }) => ({ type: "e", by: context.n })),
    delayed: raise({ type: "later" }, { id: "later", delay: "soon" }),
    computed: raise({ type: "later" }, { id: "later", delay: "computed" }),
    undelayed: cancel("later"),
    spawn: spawnChild("work", { id: "spawned", input: ({ context }: Random) => ({ n: context.n }) }),
    ask: sendTo("spawned", ({ context }) => ({ type: "ask", n: context.n })),
    drop: stopChild("spawned")
  }
})

/** A random machine. The same seed gives the same machine. */
export const randomMachine = (seed: number): AnyStateMachine => {
  const pick = numbers(seed)
  const ids: Array<string> = []
  const shape = (id: string, depth: number): Shape => {
    ids.push(id)
    const size = depth === 0 || pick(3) === 0 ? 0 : 2 + pick(2)
    return { id, children: Array.from({ length: size }, (_, index) => shape(`${id}${index}`, depth - 1)) }
  }
  const tree: Shape = { id: "s", children: Array.from({ length: 3 }, (_, index) => shape(`s${index}`, 2)) }
  const note = (text: string) =>
    pick(2) === 0
      ? { type: "note", params: { text } }
      : { type: "note", params: ({ context }: Random) => ({ text, n: context.n }) }
  const some = (mayRaise: boolean): Array<unknown> => {
    const all = [
      "add",
      "fields",
      { type: "plus", params: { much: 3 } },
      { type: "plus", params: ({ context }: Random) => ({ much: context.n % 2 }) },
      ["undelayed", "delayed"],
      ["undelayed", "computed"],
      "undelayed",
      ["spawn", "ask"],
      "drop",
      ...(mayRaise ? ["raised", "raisedWith"] : [])
    ]
    return Array.from({ length: pick(3) }, () => all[pick(all.length)]).flat()
  }
  const target = () => `#${ids[pick(ids.length)]}`
  const transition = (mayRaise: boolean) => ({
    ...(pick(5) === 0 ? {} : { target: target() }),
    ...(pick(3) === 0 ? { guard: { type: "isNot", params: { rest: pick(3) } } } : {}),
    ...(pick(4) === 0 ? { reenter: true } : {}),
    actions: [note(`t${pick(100)}`), ...some(mayRaise)]
  })
  const state = (node: Shape): object => {
    const { children } = node
    const isFinal = node !== tree && children.length === 0 && pick(4) === 0
    const handled = [...events, "e", ...ends].filter(() => pick(2) === 0)
    const on = Object.fromEntries(handled.map((type) => [type, [transition(type !== "e"), transition(type !== "e")]]))
    const always = pick(4) === 0 ? { always: { guard: "once", target: target(), actions: ["spend"] } } : {}
    const after = pick(5) === 0 ? { after: { [pick(2) === 0 ? "soon" : 20]: transition(true) } } : {}
    const invoke =
      pick(6) === 0 ? { invoke: { id: "inv", src: "work", input: ({ context }: Random) => ({ n: context.n }) } } : {}
    return {
      id: node.id,
      entry: [note(`+${node.id}`), ...some(false)],
      exit: [note(`-${node.id}`)],
      ...(isFinal
        ? { type: "final", output: ({ context }: Random) => context.n }
        : { on, ...always, ...after, ...invoke }),
      ...(children.length === 0
        ? {}
        : {
            initial: children[pick(children.length)]?.id,
            states: Object.fromEntries(children.map((child) => [child.id, state(child)])),
            onDone: { guard: "once", actions: ["spend", note(`done ${node.id}`)], target: target() }
          })
    }
  }
  const config = {
    ...state(tree),
    context: ({ input }: { readonly input: number }) => ({ n: input, once: 6, list: [] }),
    output: ({
      context,
      event
    }: {
      readonly context: Random["context"]
      readonly event: { readonly output?: unknown }
    }) => ({
      context,
      of: event.output
    })
  }
  return (base.createMachine as unknown as (config: object) => AnyStateMachine)(config)
}
