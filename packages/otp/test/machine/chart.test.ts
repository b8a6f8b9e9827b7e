/** Machines run from a plan against the same machines run by XState itself. */
import { describe, expect, test } from "vitest"
import type { AnyActorLogic, AnyStateMachine } from "xstate"
import {
  Actor,
  assign,
  cancel,
  createActor,
  createMachine,
  emit,
  enqueueActions,
  fromCallback,
  fromPromise,
  raise,
  sendParent,
  sendTo,
  setup,
  SimulatedClock,
  spawnChild,
  stopChild
} from "xstate"
import { ChartPlan } from "../../src/machine/chart/chartPlan.ts"
import { planned } from "../../src/machine/chart/chartLogic.ts"

type Log = Array<string>

/** A state of a random machine. */
interface Shape {
  readonly id: string
  readonly children: ReadonlyArray<Shape>
}

/** A machine of a configuration that the types know nothing of. */
const machineOf = (config: object, implementations: object = {}): AnyStateMachine =>
  (createMachine as unknown as (config: object, implementations: object) => AnyStateMachine)(config, implementations)

/** A small generator of numbers that depends on its seed alone. */
const numbers = (seed: number) => {
  let state = seed * 2_654_435_761 + 1
  return (below: number): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return Math.floor((state / 2 ** 32) * below)
  }
}

const events = ["a", "b", "c", "d"]

/** A random plain machine: nested states, guarded, targetless, internal and re-entering transitions, raised events. */
const randomMachine = (seed: number, log: Log): AnyStateMachine => {
  const pick = numbers(seed)
  const ids: Array<string> = []
  const note = (text: string) => () => void log.push(text)
  const count = assign(({ context }: { readonly context: { readonly n: number } }) => ({ n: context.n + 1 }))
  const shape = (id: string, depth: number): Shape => {
    ids.push(id)
    const size = depth === 0 || pick(3) === 0 ? 0 : 2 + pick(2)
    return { id, children: Array.from({ length: size }, (_, index) => shape(`${id}${index}`, depth - 1)) }
  }
  const tree: Shape = { id: "s", children: Array.from({ length: 3 }, (_, index) => shape(`s${index}`, 2)) }
  const transition = (mayRaise: boolean) => ({
    ...(pick(5) === 0 ? {} : { target: `#${ids[pick(ids.length)]}` }),
    ...(pick(3) === 0
      ? { guard: ({ context }: { readonly context: { readonly n: number } }) => context.n % 3 !== 1 }
      : {}),
    ...(pick(4) === 0 ? { reenter: true } : {}),
    actions: [
      note(`t${pick(100)}`),
      ...(pick(2) === 0 ? [count] : []),
      ...(mayRaise && pick(6) === 0 ? [raise({ type: "e" })] : [])
    ]
  })
  const state = (node: Shape): object => {
    const children = node.children
    const isFinal = node !== tree && children.length === 0 && pick(12) === 0
    const on = Object.fromEntries(
      [...events, "e"]
        .filter(() => pick(2) === 0)
        .map((type) => [type, [transition(type !== "e"), transition(type !== "e")]])
    )
    const always =
      pick(4) === 0 ? { always: { guard: "once", target: `#${ids[pick(ids.length)]}`, actions: ["spend"] } } : {}
    return {
      id: node.id,
      entry: note(`+${node.id}`),
      exit: note(`-${node.id}`),
      ...(isFinal ? { type: "final", output: node.id } : { on, ...always }),
      ...(children.length === 0
        ? {}
        : {
            initial: children[pick(children.length)]?.id,
            states: Object.fromEntries(children.map((child) => [child.id, state(child)])),
            onDone: { guard: "once", actions: ["spend", note(`done ${node.id}`)], target: `#${ids[pick(ids.length)]}` }
          })
    }
  }
  const config = {
    ...state(tree),
    context: { n: 0, once: 6 },
    output: ({ context }: { readonly context: object }) => context
  }
  return machineOf(config, {
    guards: { once: ({ context }: { readonly context: { readonly once: number } }) => context.once > 0 },
    actions: {
      spend: assign(({ context }: { readonly context: { readonly once: number } }) => ({ once: context.once - 1 }))
    }
  })
}

/** Everything that can be seen of a run. */
const trace = (logic: AnyActorLogic, log: Log, sent: ReadonlyArray<{ readonly type: string }>, input?: unknown) => {
  log.length = 0
  const clock = new SimulatedClock()
  const actor = createActor(logic, { clock, input } as never)
  const seen: Array<unknown> = []
  actor.subscribe({ error: (error) => seen.push(`error ${String(error)}`), complete: () => seen.push("complete") })
  actor.on("*", (emitted) => seen.push(emitted))
  const look = () => {
    const { status, value, context, output, children, tags } = actor.getSnapshot()
    seen.push({ status, value, context, output, children: Object.keys(children ?? {}), tags: [...(tags ?? [])] })
    seen.push(...log.splice(0))
  }
  actor.start()
  look()
  for (const event of sent) {
    if (event.type === "tick") clock.increment(10)
    else actor.send(event)
    look()
  }
  actor.stop()
  look()
  return seen
}

/** The same run from a plan and by XState. */
const runs = (machine: AnyStateMachine, log: Log, sent: ReadonlyArray<{ readonly type: string }>) => ({
  hasPlan: ChartPlan.of(machine) !== undefined,
  ours: trace(planned(machine), log, sent),
  theirs: trace(machine, log, sent)
})

describe("CHART1 a planned machine does what XState does", () => {
  test("on random machines and random events", () => {
    const log: Log = []
    for (let seed = 1; seed <= 300; seed++) {
      const pick = numbers(seed + 7)
      const sent = Array.from({ length: 25 }, () => ({ type: events[pick(events.length)] ?? "a" }))
      const { hasPlan, ours, theirs } = runs(randomMachine(seed, log), log, sent)
      expect(hasPlan).toBe(true)
      expect(ours).toEqual(theirs)
    }
  })

  test("with invoked, spawned and stopped children, and what they send", () => {
    const log: Log = []
    const child = setup({}).createMachine({
      entry: sendParent({ type: "hello" }),
      exit: () => void log.push("child exit"),
      initial: "up",
      states: { up: { on: { ping: { actions: sendParent({ type: "pong" }) }, end: "down" } }, down: { type: "final" } },
      output: "child's output"
    })
    const callback = fromCallback(({ sendBack, receive }) => {
      log.push("callback on")
      receive((event) => sendBack({ type: "echo", of: event.type }))
      return () => void log.push("callback off")
    })
    const machine = setup({ actors: { child, callback } }).createMachine({
      context: ({ input, spawn }) => ({
        input,
        ref: spawn("callback", { id: "early" }),
        outputs: [] as Array<unknown>
      }),
      initial: "idle",
      on: { "*": { actions: ({ event }) => void log.push(`any ${event.type}`) } },
      states: {
        idle: { on: { go: "busy" } },
        busy: {
          entry: [spawnChild("callback", { id: "spawned" }), sendTo("inner", { type: "ping" })],
          invoke: [
            {
              id: "inner",
              src: "child",
              onDone: {
                target: "idle",
                actions: assign({ outputs: ({ context, event }) => [...context.outputs, event.output] })
              }
            },
            { src: fromCallback(() => () => void log.push("inline off")) }
          ],
          on: {
            ask: { actions: sendTo("spawned", { type: "question" }) },
            end: { actions: sendTo("inner", { type: "end" }) },
            drop: { actions: stopChild("spawned") },
            leave: "idle"
          }
        }
      }
    })
    const sent = ["go", "ask", "end", "go", "drop", "ask", "leave", "unknown", "go"].map((type) => ({ type }))
    const plain = ({ context, ...rest }: { readonly context?: { readonly outputs?: unknown } }) => ({
      ...rest,
      outputs: context?.outputs
    })
    const strip = (seen: ReadonlyArray<unknown>) =>
      seen.map((one) => (typeof one === "object" ? plain(one as object) : one))
    expect(ChartPlan.of(machine)).toBeDefined()
    expect(strip(trace(planned(machine), log, sent, 7))).toEqual(strip(trace(machine, log, sent, 7)))
  })

  test("with delays, cancels, emitted events, enqueued and parameterised actions", () => {
    const log: Log = []
    interface Args {
      readonly context: { readonly n: number }
    }
    const machine = machineOf(
      {
        context: { n: 0 },
        initial: "one",
        states: {
          one: {
            tags: "first",
            entry: { type: "say", params: { word: "one" } },
            after: { soon: { target: "two", actions: emit({ type: "late" }) } },
            on: { again: { target: "one", reenter: true }, next: "two" }
          },
          two: {
            entry: [
              raise({ type: "tock" }, { delay: 20, id: "tock" }),
              enqueueActions(({ enqueue, context }) => {
                enqueue.assign({ n: context["n"] + 1 })
                enqueue({ type: "say", params: { word: "enqueued" } })
              })
            ],
            on: {
              tock: {
                target: "one",
                actions: { type: "say", params: ({ context }: Args) => ({ word: `tock ${context.n}` }) }
              },
              hush: { actions: cancel("tock") }
            },
            always: { guard: { type: "atLeast", params: { n: 3 } }, target: "three" }
          },
          three: { type: "final" }
        }
      },
      {
        delays: { soon: 10 },
        guards: { atLeast: ({ context }: Args, { n }: { readonly n: number }) => context.n >= n },
        actions: { say: (_: Args, { word }: { readonly word: string }) => void log.push(word) }
      }
    )
    const sent = ["tick", "tick", "tick", "again", "tick", "hush", "tick", "tick", "next", "tick", "next", "next"]
    const { hasPlan, ours, theirs } = runs(
      machine,
      log,
      sent.map((type) => ({ type }))
    )
    expect(hasPlan).toBe(true)
    expect(ours).toEqual(theirs)
  })

  test.each([
    ["an action", { entry: () => expect.unreachable("boom") }],
    ["the context", { context: () => expect.unreachable("boom") }],
    ["a transition's action", { on: { a: { actions: () => expect.unreachable("boom") } } }],
    ["an assign", { on: { a: { actions: assign(() => expect.unreachable("boom")) } } }],
    ["an unhandled child", { invoke: { src: fromPromise(() => Promise.reject(new Error("boom"))) } }]
  ])("when %s fails", async (_name, config) => {
    const outcomes = []
    for (const run of [planned, (logic: AnyActorLogic) => logic]) {
      const actor = createActor(run(machineOf(config)))
      const errors: Array<unknown> = []
      actor.subscribe({ error: (error) => errors.push(String(error)) })
      actor.start()
      actor.send({ type: "a" })
      await Promise.resolve().then(() => Promise.resolve())
      outcomes.push([actor.getSnapshot().status, errors])
    }
    expect(outcomes[0]).toEqual(outcomes[1])
    expect(outcomes[0]?.[0]).toBe("error")
  })
})

describe("CHART2 what has no plan runs as it is", () => {
  test.each([
    ["a parallel machine", createMachine({ type: "parallel", states: { a: {}, b: {} } })],
    ["a machine with history", createMachine({ initial: "a", states: { a: {}, h: { type: "history" } } })],
    ["a promise", fromPromise(() => Promise.resolve(1))]
  ])("%s", (_name, logic) => {
    expect(planned(logic as AnyActorLogic)).toBe(logic)
  })
})

test("MACRO5 a child is made of the class of the actor it is a child of", () => {
  class Own extends Actor<AnyActorLogic> {}
  const idle = fromCallback(() => {})
  const machine = machineOf({ invoke: { id: "invoked", src: "idle" } }, { actors: { idle } })
  for (const Class of [Own, Actor<AnyActorLogic>]) {
    const actor = new Class(planned(machine)).start()
    expect(actor.getSnapshot().children.invoked.constructor).toBe(Class === Own ? Own : Actor)
    actor.stop()
  }
})
