/** Machines that are not hosted: in a process and under `createActor`. */
import { describe, expect, onTestFinished, test, vi } from "vitest"
import type { AnyActorRef, AnyMachineSnapshot, AnyStateMachine } from "xstate"
import {
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
import { Clock, Process, StateMachine, System } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { numbers } from "./chart/randomMachine.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

type Log = Array<string>

/** A state of a random machine. */
interface Shape {
  readonly id: string
  readonly children: ReadonlyArray<Shape>
}

/** A machine of an untyped configuration. */
const machineOf = (config: object, implementations: object = {}): AnyStateMachine =>
  (createMachine as unknown as (config: object, implementations: object) => AnyStateMachine)(config, implementations)

const events = ["a", "b", "c", "d"]

/**
 * A random machine: nested, parallel and history states, guarded, targetless, internal and re-entering transitions, wildcards,
 * raised events.
 */
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
    const isFinal = node !== tree && children.length === 0 && pick(6) === 0
    const isParallel = node !== tree && children.length > 0 && pick(4) === 0
    const hasHistory = children.length > 0 && !isParallel && pick(3) === 0
    const on = Object.fromEntries(
      [...events, "e"]
        .filter(() => pick(2) === 0)
        .map((type) => [type, [transition(events.includes(type)), transition(events.includes(type))]])
    )
    const wildcard = pick(4) === 0 ? { "*": { actions: note(`any ${node.id}`) } } : {}
    const always =
      pick(4) === 0 ? { always: { guard: "once", target: `#${ids[pick(ids.length)]}`, actions: ["spend"] } } : {}
    const history = { type: "history", id: `${node.id}h`, history: pick(2) === 0 ? "deep" : "shallow" }
    if (hasHistory) ids.push(history.id)
    return {
      id: node.id,
      entry: note(`+${node.id}`),
      exit: note(`-${node.id}`),
      ...(isFinal ? { type: "final", output: node.id } : { on: { ...on, ...wildcard }, ...always }),
      ...(children.length === 0
        ? {}
        : {
            ...(isParallel ? { type: "parallel" } : { initial: children[pick(children.length)]?.id }),
            states: {
              ...Object.fromEntries(children.map((child) => [child.id, state(child)])),
              ...(hasHistory ? { [history.id]: history } : {})
            },
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

/** An event, or milliseconds that pass. */
type Act = { readonly type: string } | number

/** Everything that is seen of an actor. */
const watched = (actor: AnyActorRef, log: Log) => {
  const seen: Array<unknown> = []
  actor.on("*", (emitted) => void seen.push(emitted))
  const look = (): void => {
    const { status, value, context, output, children, tags }: AnyMachineSnapshot = actor.getSnapshot()
    const ids = status === "active" ? Object.keys(children) : []
    seen.push(JSON.stringify({ status, value, context, output, ids, tags: [...(tags ?? [])] }), ...log.splice(0))
  }
  return { seen, look }
}

const inProcess = async (machine: AnyStateMachine, log: Log, acts: ReadonlyArray<Act>, input: unknown) => {
  log.length = 0
  const clock = Clock.test()
  const system = System.make({ clock })
  const pid = StateMachine.start(system, machine, { input })
  const { seen, look } = watched(StateMachine.actor(pid), log)
  await hop()
  look()
  for (const act of acts) {
    if (typeof act === "number") await clock.advance(act)
    else if (Process.isAlive(pid)) Process.send(pid, act)
    await hop()
    look()
  }
  await System.stop(system)
  seen.push(...log.splice(0))
  expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
  return seen
}

const byXState = async (machine: AnyStateMachine, log: Log, acts: ReadonlyArray<Act>, input: unknown) => {
  log.length = 0
  const clock = new SimulatedClock()
  const actor = createActor(machine, { clock, input })
  actor.subscribe({ error: () => {} })
  actor.start()
  const { seen, look } = watched(actor, log)
  await hop()
  look()
  for (const act of acts) {
    if (typeof act === "number") clock.increment(act)
    else if (actor.getSnapshot().status === "active") actor.send(act)
    await hop()
    look()
  }
  actor.stop()
  seen.push(...log.splice(0))
  return seen
}

/** The result of a machine, which must be the same in a process and under `createActor`. */
const same = async (machine: AnyStateMachine, log: Log, acts: ReadonlyArray<Act>, input?: unknown) => {
  const seen = await inProcess(machine, log, acts, input)
  expect(seen).toEqual(await byXState(machine, log, acts, input))
  return seen
}

const typed = (...types: ReadonlyArray<string>) => types.map((type) => ({ type }))

describe("HOST4 a machine that is not hosted does in a process what it does under `createActor`", () => {
  test("with random machines and random events", async () => {
    // XState warns of events to actors that have ended.
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
    onTestFinished(() => warn.mockRestore())
    const log: Log = []
    let [ended, regions, remembered] = [0, 0, 0]
    const seeds = seedsOf(150)
    for (const seed of seeds) {
      const pick = numbers(seed + 7)
      const acts = Array.from({ length: 15 }, () => ({ type: events[pick(events.length)] ?? "a" }))
      const machine = randomMachine(seed, log)
      const problems = StateMachine.unhosted(machine)
      if (problems.includes("parallel states")) regions++
      if (problems.includes("history states")) remembered++
      const seen = await same(machine, log, acts)
      if (String(seen.at(-1)).includes("done")) ended++
    }
    expect(regions).toBeGreaterThan(seeds.length / 8)
    expect(remembered).toBeGreaterThan(seeds.length / 8)
    expect(ended).toBeGreaterThan(0)
  })

  test("with invoked, spawned and stopped children, and what they send", async () => {
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
        ref: spawn("callback", { id: "early" }).id,
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
    const seen = await same(machine, log, typed("go", "ask", "drop", "end", "go", "drop", "leave", "unknown", "go"), 7)
    expect(seen).toEqual(
      expect.arrayContaining(["callback on", "any hello", "any pong", "any echo", "child exit", "inline off"])
    )
  })

  test("with delays, cancels, emitted events, enqueued and parameterised actions", async () => {
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
    const again = { type: "again" }
    const next = { type: "next" }
    const seen = await same(machine, log, [10, 10, 10, again, 10, { type: "hush" }, 10, 10, next, 10, next, next])
    expect(seen).toEqual(expect.arrayContaining(["one", "enqueued", "tock 1", { type: "late" }]))
  })

  test.each([
    ["an action", { entry: () => expect.unreachable("boom") }],
    ["the context", { context: () => expect.unreachable("boom") }],
    ["a transition's action", { on: { a: { actions: () => expect.unreachable("boom") } } }],
    ["an assign", { on: { a: { actions: assign(() => expect.unreachable("boom")) } } }],
    ["an unhandled child", { invoke: { src: fromPromise(() => Promise.reject(new Error("boom"))) } }]
  ])("when %s fails", async (_name, config) => {
    const seen = await same(machineOf(config), [], typed("a"))
    expect(seen.at(-1)).toContain('"status":"error"')
  })
})
