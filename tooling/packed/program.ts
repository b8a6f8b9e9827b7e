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
}

/** Runs a program in a folder. After half an hour it is killed and has failed. */
export const run = (program: string, args: ReadonlyArray<string>, cwd: string): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(program, [...args], { cwd, timeout: 1_800_000, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const printed = `${stdout}${stderr}`.trim()
      resolve({ ok: error === null, output: error !== null && printed === "" ? error.message : printed })
    })
  })

/** The output of a failed program, as the problem of a check; none when it succeeded. */
export const failureOf = (ended: Ended): ReadonlyArray<string> => (ended.ok ? [] : [ended.output])
