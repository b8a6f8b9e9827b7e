/** The laws of a chart's paths. */
import { isDeepStrictEqual } from "node:util"
import { StateMachine } from "@troupe/otp"
import { expect, test } from "vitest"
import { type AnyMachineSnapshot, type AnyStateMachine, transition } from "xstate"
import { graphsOf, partsOf, pathsOf, Seen, silenced, type Walk, walkPath } from "./paths.ts"

/** Walks a machine in every way given, and asks whether that was everywhere. */
export const testPaths = (machine: AnyStateMachine, walks: () => ReadonlyArray<Walk>): void => {
  const seen = new Seen()

  /** It is work of a known size that waits for nothing: how long it takes is the machine's to say. */
  const timeout = 300_000

  test(`every path through the chart ${machine.id} leads where its transitions say`, { timeout }, () => {
    for (const graph of graphsOf(walks)) {
      const paths = pathsOf(graph)
      expect(paths.length).toBeGreaterThan(0)
      for (const path of paths) {
        const values = path.steps.map(({ value }) => value)
        same(walkPath(graph, path, seen), values, `${graph.walk.name}: ${path.title}`)
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
    for (const { walk, edges } of graphsOf(walks)) {
      expect(edges.length).toBeGreaterThan(0)
      const states = new Map<AnyMachineSnapshot, AnyMachineSnapshot>()
      for (const { state, event } of edges) {
        const stored = states.get(state) ?? throughJson(state)
        states.set(state, stored)
        frozen(event)
        const first = decided(walk.machine, state, event as never)
        same(decided(walk.machine, state, event as never), first)
        same(plain(decided(walk.machine, stored, event as never)), plain(first))
      }
    }
  })
}

/** A state with a copy of its context that went through JSON. Freezes the context, which must be plain data. */
const throughJson = (state: AnyMachineSnapshot): AnyMachineSnapshot => {
  const context = plain(frozen(state.context))
  expect(structuredClone(state.context)).toEqual(context)
  return Object.assign(Object.create(Object.getPrototypeOf(state)), state, { context })
}

/** Expects equal values. The strict comparison goes first, because a comparison of the test runner costs much more. */
const same = (one: unknown, other: unknown, title?: string): void => {
  if (!isDeepStrictEqual(one, other)) expect({ title, value: one }).toEqual({ title, value: other })
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
