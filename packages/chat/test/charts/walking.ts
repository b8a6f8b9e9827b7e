/** The laws of a chart's paths. */
import { StateMachine } from "@troupe/otp"
import { expect, test } from "vitest"
import { type AnyMachineSnapshot, type AnyStateMachine, transition } from "xstate"
import { edgesOf, partsOf, pathsOf, Seen, silenced, type Walk, walkPath } from "./paths.ts"

/** Walks a machine in every way given, and asks whether that was everywhere. */
export const testPaths = (machine: AnyStateMachine, walks: () => ReadonlyArray<Walk>): void => {
  const seen = new Seen()

  /** It is work of a known size that waits for nothing: how long it takes is the machine's to say. */
  const timeout = 300_000

  test(`every path through the chart ${machine.id} leads where its transitions say`, { timeout }, () => {
    for (const walk of walks()) {
      const paths = pathsOf(walk)
      expect(paths.length).toBeGreaterThan(0)
      for (const path of paths) {
        expect(walkPath(walk, path, seen), `${walk.name}: ${path.title}`).toEqual(path.steps.map(({ value }) => value))
      }
    }
  })

  test(`the paths reach every state of ${machine.id} and take every transition`, () => {
    const { states, transitions } = partsOf(silenced(machine))
    expect(states.filter((id) => !seen.states.has(id))).toEqual([])
    expect(transitions.filter((key) => !seen.transitions.has(key))).toEqual([])
  })
}

const frozen = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  Object.values(value).forEach(frozen)
  return value
}

/** What a transition decides: the state as data, and the actions with their parameters. */
const decided = (machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: never): unknown => {
  const [next, actions] = transition(machine, snapshot, event)
  const { status, value, context, output } = next as AnyMachineSnapshot
  const done = actions.map(({ type, params }) => [type, type.startsWith("xstate.") ? undefined : params])
  return { status, value, context, output, done }
}

/**
 * Takes every edge twice, from a context and with an event that are frozen, and from a context that went through JSON.
 * The decisions are equal, and the context is plain JSON data.
 */
export const testPurity = (machine: AnyStateMachine, walks: () => ReadonlyArray<Walk>): void => {
  test(`the chart ${machine.id} is hosted`, () => {
    expect(StateMachine.unhosted(machine)).toEqual([])
  })

  test(`the transitions of ${machine.id} are pure, and its context is plain data`, { timeout: 300_000 }, () => {
    for (const walk of walks()) {
      const edges = edgesOf(walk)
      expect(edges.length).toBeGreaterThan(0)
      for (const { state, event } of edges) {
        frozen(state.context)
        frozen(event)
        const first = decided(walk.machine, state, event as never)
        expect(decided(walk.machine, state, event as never)).toEqual(first)
        expect(structuredClone(state.context)).toEqual(plain(state.context))
        const stored = Object.assign(Object.create(Object.getPrototypeOf(state)), state, {
          context: JSON.parse(JSON.stringify(state.context))
        })
        expect(plain(decided(walk.machine, stored, event as never))).toEqual(plain(first))
      }
    }
  })
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
