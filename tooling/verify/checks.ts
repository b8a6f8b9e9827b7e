/**
 * The checks of the house, and their runner.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { root } from "../house/workspace.ts"

/** One check: a root script. */
export interface Check {
  readonly name: string
  readonly command: ReadonlyArray<string>
}

/** The result of one check. */
export interface CheckResult {
  readonly name: string
  readonly ok: boolean
  readonly seconds: number
  readonly output: string
}

const script = (name: string, ...options: ReadonlyArray<string>): Check => ({
  name,
  command: ["pnpm", "run", name, ...options]
})

/** The checks that read sources, in lanes that may run side by side; a lane runs in order. */
export const staticLanes: ReadonlyArray<ReadonlyArray<Check>> = [
  [script("format:check"), script("lint"), script("knip")],
  [script("typecheck"), script("diagnostics")]
]

/** The tests, which run alone: some measure memory. */
export const testCheck: Check = script("test")

/**
 * The checks that are too slow for `verify`: `verify:full` runs them after the tests, one after another.
 *
 * **Details**: each is a root script that prints its own checks, and ends with the line `N passed, N failed`, which is added to
 * the tally. The storm takes two minutes, and one of the seeds that have found a fault.
 */
export const slowChecks: ReadonlyArray<Check> = [
  script("packed"),
  script("check:next"),
  script("fuzz"),
  script("storm", "--kept")
]

/** Runs one check to its end, and returns its output; with `live`, also prints the output. */
export const runCheck = (check: Check, live: boolean): Promise<CheckResult> => {
  const startedAt = performance.now()
  const [program = "", ...args] = check.command
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" }
  const running = spawn(program, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  const keep = (chunk: Buffer): void => {
    output += chunk.toString()
    if (live) process.stdout.write(chunk)
  }
  running.stdout.on("data", keep)
  running.stderr.on("data", keep)
  return new Promise((resolve) => {
    const end = (ok: boolean): void =>
      resolve({ name: check.name, ok, seconds: (performance.now() - startedAt) / 1000, output })
    running.on("error", (error) => {
      output += `${error.message}\n`
      end(false)
    })
    running.on("close", (code) => end(code === 0))
  })
}
