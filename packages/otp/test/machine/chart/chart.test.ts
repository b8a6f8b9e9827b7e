/** Charts run from a table against XState's own `transition`. */
import { describe, expect, test } from "vitest"
import { type AnyMachineSnapshot, type AnyStateMachine, type EventObject, initialTransition, transition } from "xstate"
import { Chart, type ChartEffect } from "../../../src/machine/chart/chart.ts"
import { ChartTable } from "../../../src/machine/chart/chartTable.ts"
import { ends, events, numbers, randomMachine } from "./randomMachine.ts"

const tableOf = (machine: AnyStateMachine): ChartTable => {
  const table = ChartTable.of(machine)
  if (!(table instanceof ChartTable)) throw new Error([...table].join(", "))
  return table
}

/** An effect as both report it. */
type Reported = readonly [kind: string, ...rest: ReadonlyArray<unknown>]

const ours = (effects: ReadonlyArray<ChartEffect>): ReadonlyArray<Reported> =>
  effects.map((effect): Reported => {
    switch (effect.kind) {
      case "act":
      case "effect":
        return ["act", effect.name, effect.params]
      case "start":
        return ["start", effect.id, effect.src, effect.input]
      case "stop":
        return ["stop", effect.id]
      case "send":
        return ["send", effect.to, effect.event]
      case "sendParent":
        return ["sendParent", effect.event]
      case "schedule":
        return ["schedule", effect.id, effect.event, effect.ms]
      case "cancel":
        return ["cancel", effect.id]
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
  children: [...children.keys()]
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

describe("TABLE1 a chart does what XState's transition does", () => {
  test("on random machines and random events: states, contexts, children, and effects in order", () => {
    let checked = 0
    for (let seed = 1; seed <= 300; seed++) {
      const machine = randomMachine(seed)
      const table = tableOf(machine)
      for (let run = 0; run < 10; run++) {
        const effects: Array<ChartEffect> = []
        const [first, actions] = initialTransition(machine, run)
        let snapshot = first as AnyMachineSnapshot
        const chart = Chart.start(table, run, effects)
        expect(ours(effects)).toEqual(theirs(actions))
        for (const event of eventsFor(seed * 31 + run, 12)) {
          if (snapshot.status !== "active") break
          effects.length = 0
          const [next, done] = transition(machine, snapshot, event)
          const before = snapshot
          snapshot = next as AnyMachineSnapshot
          const changed = chart.send(event, effects)
          expect(shownOf(chart)).toEqual(shown(snapshot))
          expect(ours(effects)).toEqual(theirs(done))
          if (!changed) expect(shown(snapshot)).toEqual(shown(before))
          checked++
        }
      }
    }
    expect(checked).toBeGreaterThan(10_000)
  })
})
