/** Charts run from a table against XState's own `transition`. */
import { describe, expect, test } from "vitest"
import {
  type AnyMachineSnapshot,
  type AnyStateMachine,
  createMachine,
  type EventObject,
  initialTransition,
  transition
} from "xstate"
import { Chart, type ChartData, type ChartEffect } from "../../../src/machine/chart/chart.ts"
import { ChartTable } from "../../../src/machine/chart/chartTable.ts"
import { ends, events, numbers, randomMachine } from "./randomMachine.ts"
import { seedsOf } from "../../../../../tooling/verify/volume.ts"

const tableOf = (machine: AnyStateMachine, strict = false): ChartTable => {
  const table = ChartTable.of(machine, strict)
  if (!(table instanceof ChartTable)) throw new Error([...table].join(", "))
  return table
}

/** An effect as both report it. */
type Reported = readonly [kind: string, ...rest: ReadonlyArray<unknown>]

const ours = (effects: ReadonlyArray<ChartEffect>): ReadonlyArray<Reported> =>
  effects.flatMap((effect): ReadonlyArray<Reported> => {
    switch (effect.kind) {
      // XState leaves a child running whose id another one takes.
      case "replace":
        return []
      case "act":
      case "effect":
        return [["act", effect.name, effect.params]]
      case "start":
        return [["start", effect.id, effect.src, effect.input]]
      case "stop":
        return [["stop", effect.child.id]]
      case "send":
        return [["send", effect.child.id, effect.event]]
      case "sendParent":
        return [["sendParent", effect.event]]
      case "schedule":
        return [["schedule", effect.id, effect.event, effect.ms]]
      case "cancel":
        return [["cancel", effect.id]]
    }
  })

interface Executable {
  readonly type: string
  readonly params: unknown
}

interface Params {
  readonly id?: string
  readonly sendId?: string
  readonly src?: unknown
  readonly input?: unknown
  readonly to?: { readonly id: string } | string
  readonly event?: EventObject
  readonly delay?: number
}

const theirs = (actions: ReadonlyArray<Executable>): ReadonlyArray<Reported> =>
  actions.flatMap(({ type, params: given }): ReadonlyArray<Reported> => {
    const params = (given ?? {}) as Params
    switch (type) {
      case "xstate.spawnChild":
        return [["start", params.id, params.src, params.input]]
      case "xstate.stopChild":
        return given === undefined ? [] : [["stop", params.id]]
      case "xstate.sendTo":
        return [isChild(params.to) ? ["send", "spawned", params.event] : ["sendParent", params.event]]
      case "xstate.raise":
        return params.delay === undefined ? [] : [["schedule", params.id, params.event, params.delay]]
      case "xstate.cancel":
        return [["cancel", params.sendId]]
      default:
        return [["act", type, given]]
    }
  })

const isChild = (to: Params["to"]): boolean => typeof to === "object" && to.id === "spawned"

/** Everything that both show of a state. XState also lists the stopped children of a machine that is done. */
const shown = ({ status, value, context, output, children }: AnyMachineSnapshot) => ({
  status,
  value,
  context,
  output,
  children: status === "active" ? Object.keys(children) : []
})

const shownOf = ({ status, value, context, output, children }: Chart) => ({
  status,
  value,
  context,
  output,
  children: status === "active" ? Array.from(children, ({ id }) => id) : []
})

/** Random events for a machine. */
const eventsFor = (seed: number, count: number): ReadonlyArray<EventObject> => {
  const pick = numbers(seed)
  const all = [...events, ...events, ...ends]
  return Array.from({ length: count }, () => ({
    type: all[pick(all.length)] ?? "a",
    by: pick(4),
    output: pick(9),
    error: pick(9)
  }))
}

/** Expects equal data. The texts are compared first, because a comparison of the test runner costs much more. */
const same = (one: unknown, other: unknown): void => {
  if (JSON.stringify(one) !== JSON.stringify(other)) expect(one).toEqual(other)
}

/** A chart that goes through JSON. */
const copied = (chart: Chart): Chart => {
  const { table, status, value, context, output, error, children } = chart
  const data = JSON.stringify({ status, value, context, output, error })
  const copy = Chart.restore(table, JSON.parse(data) as ChartData)
  for (const child of children) copy.adopt(child)
  return copy
}

/** A random machine with its table, and a random sequence of events for it. */
interface Run {
  readonly machine: AnyStateMachine
  readonly table: ChartTable
  readonly input: number
  readonly sent: ReadonlyArray<EventObject>
}

const runs = function* (seeds: ReadonlyArray<number>, sequences: number, length: number): Generator<Run> {
  for (const seed of seeds) {
    const machine = randomMachine(seed)
    const table = tableOf(machine)
    for (let input = 0; input < sequences; input++) {
      yield { machine, table, input, sent: eventsFor(seed * 31 + input, 1 + ((seed + input) % length)) }
    }
  }
}

test("a row of a table is compiled once, when it is first needed", () => {
  const machine = createMachine({ on: { go: ".b" }, initial: "a", states: { a: {}, b: {} } })
  const table = tableOf(machine)
  const { leaf } = table.initial
  expect(table.transitions(leaf, "go")).toBe(table.transitions(leaf, "go"))
  expect(table.eventless(leaf)).toBe(table.eventless(leaf))
  expect(table.exits(leaf)).toBe(table.exits(leaf))
})

/** At full volume, beside other work. */
const timeout = 300_000

describe("CTABLE1 a chart does what XState's transition does", () => {
  test("on random machines and random events: states, contexts, children, and effects in order", { timeout }, () => {
    let checked = 0
    const seeds = seedsOf(500)
    for (const { machine, table, input, sent } of runs(seeds, 21, 3)) {
      const effects: Array<ChartEffect> = []
      const [first, actions] = initialTransition(machine, input)
      let snapshot = first as AnyMachineSnapshot
      const chart = Chart.start(table, input, effects)
      same(ours(effects), theirs(actions))
      for (const event of sent) {
        if (snapshot.status !== "active") break
        effects.length = 0
        const [next, done] = transition(machine, snapshot, event)
        const before = snapshot
        snapshot = next as AnyMachineSnapshot
        const changed = chart.send(event, effects)
        same(shownOf(chart), shown(snapshot))
        same(ours(effects), theirs(done))
        if (!changed) same(shown(snapshot), shown(before))
        checked++
      }
    }
    expect(checked).toBeGreaterThan(24 * seeds.length)
  })

  test("a chart that goes through JSON before each event does the same", { timeout }, () => {
    let checked = 0
    const seeds = seedsOf(250)
    for (const { table, input, sent } of runs(seeds, 20, 8)) {
      const chart = Chart.start(table, input, [])
      let copy = copied(chart)
      for (const event of sent) {
        const [made, remade]: [Array<ChartEffect>, Array<ChartEffect>] = [[], []]
        copy = copied(copy)
        same(copy.send(event, remade), chart.send(event, made))
        same(shownOf(copy), shownOf(chart))
        same(ours(remade), ours(made))
        checked++
      }
    }
    expect(checked).toBeGreaterThan(40 * seeds.length)
  })

  test("STRICT1 a chart with frozen contexts and events, and without `self`, does the same", { timeout }, () => {
    let checked = 0
    const seeds = seedsOf(120)
    for (const { machine, table, input, sent } of runs(seeds, 20, 8)) {
      const chart = Chart.start(table, input, [])
      const strict = Chart.start(tableOf(machine, true), input, [])
      for (const event of sent) {
        const [made, remade]: [Array<ChartEffect>, Array<ChartEffect>] = [[], []]
        same(strict.send({ ...event }, remade), chart.send(event, made))
        same(shownOf(strict), shownOf(chart))
        same(ours(remade), ours(made))
        checked++
      }
    }
    expect(checked).toBeGreaterThan(40 * seeds.length)
  })
})
