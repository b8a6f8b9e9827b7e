/**
 * Runs checks in lanes.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { platform } from "node:process"
import { root } from "../house/workspace.ts"
import type { Check, Lane } from "./checks.ts"
import { type Tally, tallyOf } from "./tally.ts"

/** The result of one check. `processorSeconds` is the time of all its programs, where the system counts it. */
export interface CheckResult {
  readonly name: string
  readonly ok: boolean
  readonly seconds: number
  readonly processorSeconds: number | undefined
  readonly output: string
  readonly tally: Tally
}

const timed = (command: ReadonlyArray<string>): ReadonlyArray<string> =>
  platform === "win32"
    ? command
    : ["bash", "-c", 'TIMEFORMAT="processor seconds: %U %S"; time "$@"', "bash", ...command]

const timesPattern = /^processor seconds: ([\d.]+) ([\d.]+)\n/m

/** Runs one check to its end. */
const runCheck = (check: Check): Promise<CheckResult> => {
  const startedAt = performance.now()
  const [program = "", ...args] = timed(check.command)
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1", ...check.env }
  const running = spawn(program, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  const keep = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  running.stdout.on("data", keep)
  running.stderr.on("data", keep)
  return new Promise((resolve) => {
    const end = (ok: boolean): void => {
      const [, user, system] = timesPattern.exec(output) ?? []
      resolve({
        name: check.name,
        ok,
        seconds: (performance.now() - startedAt) / 1000,
        processorSeconds: user === undefined ? undefined : Number(user) + Number(system),
        output: output.replace(timesPattern, ""),
        tally: check.isCounted ? tallyOf(output, ok) : { passed: 0, failed: ok ? 0 : 1, notRun: 0 }
      })
    }
    running.on("error", (error) => {
      output += `${error.message}\n`
      end(false)
    })
    running.on("close", (code) => end(code === 0))
  })
}

/** Runs lanes side by side, and calls `ended` with each result. */
export const runLanes = async (
  lanes: ReadonlyArray<Lane>,
  ended: (check: Check, result: CheckResult) => void
): Promise<ReadonlyArray<CheckResult>> => {
  const runLane = async (lane: Lane): Promise<ReadonlyArray<CheckResult>> => {
    const results: Array<CheckResult> = []
    for (const check of lane) {
      const result = await runCheck(check)
      ended(check, result)
      results.push(result)
    }
    return results
  }
  return (await Promise.all(lanes.map(runLane))).flat()
}
