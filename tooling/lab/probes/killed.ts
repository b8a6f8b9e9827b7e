/** Ends the program of a framework by `kill -9`, and starts it again. */
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Ended, Framework } from "./framework.ts"

const program = new URL("life.ts", import.meta.url).pathname
const longestMs = 30_000

/** Runs a life until it ends, or until it says that it must be killed. */
const lifeOf = (argv: ReadonlyArray<string>): Promise<string> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [program, ...argv], { stdio: ["ignore", "pipe", "pipe"], timeout: longestMs })
    let [output, problem] = ["", ""]
    child.stderr.on("data", (chunk: Buffer) => (problem += chunk.toString()))
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString()
      if (output === "now\n") child.kill("SIGKILL")
    })
    child.once("close", () => resolve(output === "" ? problem : output))
  })

/** What is found after the second life. `problem`: the output of a life that did not end as it must. */
export interface Afterwards extends Partial<Ended> {
  readonly charges: number
  readonly waiting?: ReadonlyArray<string>
  readonly problem?: string
}

/** Kills the program between two steps of the child, or during a call that writes; then continues. */
export const killed = async (
  { module = "" }: Framework,
  folder: string,
  when: "between" | "during"
): Promise<Afterwards> => {
  const first = await lifeOf([module, folder, when, "1"])
  const second = first === "now\n" ? await lifeOf([module, folder, when, "2"]) : ""
  const ledger = join(folder, "ledger")
  const charges = existsSync(ledger) ? readFileSync(ledger, "utf8").split("\n").length - 1 : 0
  try {
    return { charges, ...(JSON.parse(second) as Omit<Afterwards, "charges">) }
  } catch {
    return { charges, problem: (second === "" ? first : second).slice(0, 300) }
  }
}
