/**
 * Runs other programs to their end.
 *
 * @module
 */
import { execFile } from "node:child_process"

/** The exit and the output of a program. */
export interface Ended {
  readonly ok: boolean
  readonly output: string
  /** The standard output alone. */
  readonly stdout: string
}

const limits = { timeout: 1_800_000, maxBuffer: 64 * 1024 * 1024 }

/** Runs a program in a folder. After half an hour it is killed and has failed. */
export const run = (
  program: string,
  args: ReadonlyArray<string>,
  cwd: string,
  env: NodeJS.ProcessEnv = process.env
): Promise<Ended> =>
  new Promise((resolve) => {
    // The commands of npm are scripts of the shell on Windows.
    const options = { ...limits, cwd, env, shell: process.platform === "win32" }
    execFile(program, [...args], options, (error, stdout, stderr) => {
      const printed = `${stdout}${stderr}`.trim()
      resolve({ ok: error === null, output: error !== null && printed === "" ? error.message : printed, stdout })
    })
  })

/** The output of a failed program, as the problem of a check; none when it succeeded. */
export const failureOf = (ended: Ended): ReadonlyArray<string> => (ended.ok ? [] : [ended.output])
