/** A machine in words, such as `a --after 100 ms--> b, not hosted`, on a clock of its own. */
import { Clock, Process, StateMachine, System } from "@troupe/otp"
import { setup } from "xstate"
import { type Fields, listOf, textOf } from "../runner/fields.ts"
import type { Finding } from "../runner/suite.ts"
import { countOf, meaningOf, type Table } from "./words.ts"

/** Runs the steps of a scene with a machine, and compares its last state. */
export const runMachine = async (input: Fields): Promise<Finding> => {
  const moves = [...textOf(input["machine"]).matchAll(/(\w+) --after ([\d,]+) ms--> (\w+)/g)]
  const leave = ([, from = "", ms = "", to = ""]: ReadonlyArray<string>) =>
    [from, { after: { [countOf(ms)]: to } }] as const
  const states = Object.fromEntries([...moves.map(([, , , to = ""]) => [to, {}] as const), ...moves.map(leave)])
  const plain = setup({}).createMachine({ initial: moves[0]?.[1] ?? "", states })
  const isHosted = !textOf(input["machine"]).includes("not hosted")
  const clock = Clock.test()
  const system = System.make({ clock })
  const start = (options = {}) => StateMachine.start(system, isHosted ? StateMachine.hosted(plain) : plain, options)
  let pid = start()
  let stored = ""
  const acts: Table<unknown> = {
    start: () => {},
    "(?:{n} ms later )?store `persisted` as JSON": async (ms) => {
      await clock.advance(countOf(ms))
      stored = JSON.stringify(StateMachine.persisted(pid))
    },
    kill: () => Process.kill(pid),
    "start from the JSON": () => (pid = start({ snapshot: JSON.parse(stored) as unknown })),
    "wait {n} s": (seconds) => clock.advance(countOf(seconds) * 1_000),
    "wait {n} ms": (ms) => clock.advance(countOf(ms))
  }
  const steps = listOf(input["steps"]).flatMap((step) => textOf(step).split(/;\s*/))
  for (const step of steps) await meaningOf(acts, step)
  const state = textOf(StateMachine.snapshot(pid).value)
  await System.stop(system)
  const wanted = meaningOf({ "state {w}": (name) => name } satisfies Table<string>, textOf(input["right"]))
  return state === wanted ? [] : [{ path: "state", message: `${state} instead of ${wanted}` }]
}
