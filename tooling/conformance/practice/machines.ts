/** A machine in words, such as `a --after 100 ms--> b, not hosted`, on a clock of its own. */
import { Clock, Process, StateMachine, System } from "@troupe/otp"
import { setup } from "xstate"
import { type Fields, listOf, textOf } from "../runner/json.ts"
import type { Finding } from "../runner/suite.ts"
import { countOf, UnknownWords } from "./words.ts"

/** Runs the steps of a scene with a machine: each is one life of it, which starts from what the life before stored. */
export const runMachine = async ({ machine, steps, right }: Fields): Promise<Finding> => {
  const [, from, ms = "", to = ""] = /^(\w+) --after ([\d,]+) ms--> (\w+)/.exec(textOf(machine)) ?? []
  if (from === undefined) throw new UnknownWords(`the machine “${textOf(machine)}”`)
  const plain = setup({}).createMachine({
    initial: from,
    states: { [from]: { after: { [countOf(ms)]: to } }, [to]: {} }
  })
  const chart = textOf(machine).includes("not hosted") ? plain : StateMachine.hosted(plain)
  const clock = Clock.test()
  const system = System.make({ clock })
  let state: unknown
  let stored: string | undefined
  for (const step of listOf(steps).map(textOf)) {
    const snapshot = stored === undefined ? {} : { snapshot: JSON.parse(stored) as unknown }
    const pid = StateMachine.start(system, chart, snapshot as object)
    const [, wait, unit] = /^start\b.*; (?:wait )?([\d,]+) (m?s)\b/.exec(step) ?? []
    if (wait === undefined) throw new UnknownWords(`the step “${step}”`)
    await clock.advance(countOf(wait) * (unit === "s" ? 1_000 : 1))
    stored = JSON.stringify(StateMachine.persisted(pid))
    state = StateMachine.snapshot(pid).value
    Process.kill(pid)
  }
  await System.stop(system)
  return `state ${textOf(state)}` === right ? [] : [{ path: textOf(right), message: `state ${textOf(state)}` }]
}
