/** Ends the program of a framework by `kill -9`, and starts it again. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { launch } from "../child.ts"
import { settlesWithin } from "../delays.ts"
import type { Ended, Framework } from "./framework.ts"

const longestMs = 30_000

/** The last line of a life, which ends, or is killed when it prints `now`. */
const lifeOf = async (argv: ReadonlyArray<string>): Promise<string> => {
  let output = ""
  const { child, closed } = launch(new URL("life.ts", import.meta.url), argv, (line) => {
    output = line
    if (line === "now") child.kill("SIGKILL")
  })
  if (!(await settlesWithin(longestMs, closed))) {
    output = "it did not end"
    child.kill("SIGKILL")
  }
  const end = await closed
  return output === "" ? `it ended with ${end}` : output
}

/** What is found after the second life. `problem`: the output of a life that did not end as it must. */
export interface Afterwards extends Ended {
  readonly charges: number
  readonly waiting: ReadonlyArray<string>
  readonly problem?: string
}

/** Kills the program between two steps of the child, or during a call that writes; then continues. */
export const killed = async (
  { module = "" }: Framework,
  folder: string,
  when: "between" | "during"
): Promise<Afterwards> => {
  const first = await lifeOf([module, folder, when, "1"])
  const last = first === "now" ? await lifeOf([module, folder, when, "2"]) : first
  const ledger = join(folder, "ledger")
  const charges = existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n").length - 1 : 0
  const nothing = { charges, reason: "no end", text: "", waiting: [] }
  return last.startsWith("{")
    ? { ...nothing, ...(JSON.parse(last) as Partial<Afterwards>) }
    : { ...nothing, problem: last.slice(0, 300) }
}
