/** A program of the laboratory in a process of its own, whose output is one line for each fact. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { compileCache } from "../house/workspace.ts"

/** A running program. `closed` resolves with its exit code, or with the signal that ended it. */
export type Launched = ReturnType<typeof launch>

/**
 * Starts a program, and calls back with each whole line of its output; a line that was cut off does not count. A program that is to
 * be killed stores its compiled sources by `flushCompileCache`.
 */
export const launch = (
  program: URL,
  args: ReadonlyArray<string>,
  onLine: (line: string) => unknown,
  nodeArgs: ReadonlyArray<string> = []
) => {
  const argv = [...nodeArgs, fileURLToPath(program), ...args]
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache }
  const child = spawn(process.execPath, argv, { env, stdio: ["pipe", "pipe", "inherit"] })
  // A program that was killed reads no command.
  child.stdin.on("error", () => {})
  let rest = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = `${rest}${chunk}`.split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) onLine(line)
  })
  return { child, closed: once(child, "close").then(([code, signal]) => String(code ?? signal)) }
}
