/**
 * `demo`: a supervised chat in the terminal.
 *
 * @module
 */
import process from "node:process"
import { runProgram } from "./program.ts"

const ending = new AbortController()
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const
let exitCode: number | undefined

for (const [signal, code] of Object.entries(signals)) {
  process.on(signal, () => {
    exitCode ??= code
    ending.abort()
  })
}

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error
  ending.abort()
})

const { argv, env, stdin, stdout, stderr } = process
const ended = await runProgram({
  args: argv.slice(2),
  env,
  folder: process.cwd(),
  stdin,
  stdout,
  stderr,
  signal: ending.signal
})
process.exitCode = exitCode ?? ended
