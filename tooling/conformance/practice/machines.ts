/** A machine in words, such as `a --after 100 ms--> b, not hosted`, on a clock of its own. */
import { Clock, Process, StateMachine, System } from "@troupe/otp"
import { setup } from "xstate"
import { type Fields, listOf, textOf } from "../runner/fields.ts"
import type { Finding } from "../runner/suite.ts"
import { countOf, meaningOf, type Table, UnknownWords } from "./words.ts"

/** Runs the steps of a scene with a machine, and compares its last state. */
export const runMachine = async (input: Fields): Promise<Finding> => {
  const words = textOf(input["machine"])
  const moves = [...words.matchAll(/(\w+) --after ([\d,]+) ms--> (\w+)/g)].map(([, from = "", ms = "", to = ""]) => ({
    from,
    ms,
    to
  }))
  const states = Object.fromEntries([
    ...moves.map(({ to }) => [to, {}] as const),
    ...moves.map(({ from, ms, to }) => [from, { after: { [countOf(ms)]: to } }] as const)
  ])
  const [, wanted] = /^state (\w+)$/.exec(textOf(input["right"])) ?? []
  if (moves[0] === undefined || wanted === undefined) throw new UnknownWords(`the machine “${words}”`)
  const plain = setup({}).createMachine({ initial: moves[0].from, states })
  const clock = Clock.test()
  const system = System.make({ clock })
  const start = (options = {}) =>
    StateMachine.start(system, words.includes("not hosted") ? plain : StateMachine.hosted(plain), options)
  let pid = start()
  let stored = ""
  const acts: Table<() => unknown> = {
    start: () => () => {},
    "(?:{n} (m?s) later )?store `persisted` as JSON":
      (count = "0", unit) =>
      async () => {
        await clock.advance(countOf(count) * (unit === "s" ? 1_000 : 1))
        stored = JSON.stringify(StateMachine.persisted(pid))
      },
    kill: () => () => Process.kill(pid),
    "start from the JSON": () => () => (pid = start({ snapshot: JSON.parse(stored) as unknown })),
    "wait {n} (m?s)":
      (count = "", unit) =>
      () =>
        clock.advance(countOf(count) * (unit === "s" ? 1_000 : 1))
  }
  const steps = listOf(input["steps"]).flatMap((step) => textOf(step).split(/;\s*/))
  for (const step of steps) await meaningOf(acts, step, "step")()
  const state = StateMachine.snapshot(pid).value
  await System.stop(system)
  return state === wanted ? [] : [{ path: "state", message: `${textOf(state)} instead of ${wanted}` }]
}
