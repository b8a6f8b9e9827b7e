/** The two laws of a chart's paths. */
import { expect, test } from "vitest"
import type { AnyStateMachine } from "xstate"
import { partsOf, pathsOf, Seen, silenced, type Walk, walkPath } from "./paths.ts"

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
