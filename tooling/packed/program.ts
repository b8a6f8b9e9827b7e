/**
 * Runs other programs to their end, and cleans up after them.
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

const exit = (): never => process.exit(1)
const signals = ["SIGINT", "SIGTERM"] as const

/** Awaits `use`, then calls `clean`. A signal ends this program by `clean` too; what began last is cleaned first. */
export const cleaned = async <A>(clean: () => void, use: () => Promise<A>): Promise<A> => {
  process.prependListener("exit", clean)
  for (const signal of signals) process.on(signal, exit)
  try {
    return await use()
  } finally {
    process.off("exit", clean)
    for (const signal of signals) process.off(signal, exit)
    clean()
  }
}

/** The output of a failed program, as the problem of a check; none when it succeeded. */
export const failureOf = (ended: Ended): ReadonlyArray<string> => (ended.ok ? [] : [ended.output])
