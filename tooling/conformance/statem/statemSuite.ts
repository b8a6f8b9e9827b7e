/**
 * The cases of `gen_statem`: each is a random machine, and compared with the log of a real run.
 *
 * **Details**: each chart runs three times: from its table, by XState in a process, and under a bare `createActor`.
 *
 * @module
 */
import { Clock, Process, StateMachine, System } from "@troupe/otp"
import { createActor } from "xstate"
import { type Json, type JsonObject, list, number, object, text, textOf } from "../runner/json.ts"
import type { Difference } from "../runner/matching.ts"
import type { Case, Finding, Suite } from "../runner/suite.ts"
import { chartOf } from "./statemChart.ts"

type Log = Array<string>

/** Sends an event to a machine. */
type Send = (type: string) => void

/** Plays a script against a machine: events at once, waits on the clock. */
const play = async (script: ReadonlyArray<Json>, clock: Clock.TestClock, send: Send): Promise<void> => {
  await clock.advance(0)
  for (const step of script) {
    const [name, value] = list(step)
    if (name === "send") send(text(value))
    else await clock.advance(number(value))
  }
}

/** Runs a chart in a process, by XState if it is inspected. */
const inProcess =
  (options: { readonly inspect?: () => void }) =>
  async ({ states, script }: JsonObject): Promise<Log> => {
    const log: Log = []
    const clock = Clock.test()
    const system = System.make({ clock })
    const env = (line: string): void => void log.push(line)
    const pid = StateMachine.start(system, chartOf(object(states)), { env, ...options })
    await play(list(script), clock, (type) => Process.send(pid, { type }))
    await System.stop(system)
    return log
  }

const bare = async ({ states, script }: JsonObject): Promise<Log> => {
  const log: Log = []
  const clock = Clock.test()
  const machine = StateMachine.bind(chartOf(object(states)), (line: string) => void log.push(line))
  const actor = createActor(machine, { clock }).start()
  await play(list(script), clock, (type) => actor.send({ type }))
  actor.stop()
  return log
}

const runs = {
  "from its table": inProcess({}),
  "by XState in a process": inProcess({ inspect: () => {} }),
  "under createActor": bare
}

const differenceOf = (run: string, ours: Log, theirs: ReadonlyArray<Json>): ReadonlyArray<Difference> => {
  const at = ours.findIndex((line, index) => line !== theirs[index])
  const place = at < 0 ? ours.length : at
  if (at < 0 && ours.length === theirs.length) return []
  const message = `line ${place + 1} is ${ours[place] ?? "missing"} in place of ${textOf(theirs[place] ?? "nothing")}`
  return [{ path: run, message, ours, theirs }]
}

/** The suite of random machines: one list a file. */
export const statemSuite: Suite = {
  casesOf: (content) => list(content as Json).map((value) => caseOf(object(value)))
}

const caseOf = (content: JsonObject): Case => ({
  id: text(content["id"]),
  facts: { suite: "gen-statem", operation: "script", given: content, expected: { log: content["log"] } },
  run: async (): Promise<Finding> => {
    const found: Array<Difference> = []
    for (const [name, run] of Object.entries(runs)) {
      found.push(...differenceOf(name, await run(content), list(content["log"])))
    }
    return found
  }
})
