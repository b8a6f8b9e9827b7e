/**
 * Runs other programs to their end.
 *
 * @module
 */
import { execFile } from "node:child_process"

/** How a program ended, and all that it printed. */
export interface Ended {
  readonly ok: boolean
  readonly output: string
}

/** Runs a program in a folder. It may take five minutes; then it is killed and has failed. */
export const run = (program: string, args: ReadonlyArray<string>, cwd: string): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(program, [...args], { cwd, timeout: 300_000, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const printed = `${stdout}${stderr}`.trim()
      resolve({ ok: error === null, output: error !== null && printed === "" ? error.message : printed })
    })
  })

/** What a failed program printed, as the problem of a check; no problem when it ended well. */
export const failureOf = (ended: Ended): ReadonlyArray<string> => (ended.ok ? [] : [ended.output])
