/**
 * A program that this program starts: a process of its own, which ends with this one.
 *
 * **Details**: it has a process group of its own, so that Ctrl+C in the terminal does not reach it.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { optionsName } from "./parent.ts"

/** The first line of a program, when it is ready, or a failure that it reports. */
type Line<Ready> = ({ readonly type: "ready" } & Ready) | { readonly type: "reported"; readonly message: string }

/** A started program. `ready` resolves with its first line, and rejects when it ends before. */
export interface Program<Ready> {
  readonly process: ChildProcess
  readonly ready: Promise<Ready>
  readonly ended: Promise<void>
}

/** Starts a program of this folder. `report` is called with the failures that it reports. */
export const startProgram = <Ready>(
  file: string,
  options: object,
  report: (message: string) => void
): Program<Ready> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, file)], {
    env: { ...process.env, [optionsName]: JSON.stringify(options) },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
    windowsHide: true
  })
  const { promise: ready, resolve, reject } = Promise.withResolvers<Ready>()
  const { promise: ended, resolve: end } = Promise.withResolvers<void>()
  let complaints = ""
  child.stderr.on("data", (chunk: Buffer) => {
    complaints = `${complaints}${chunk.toString()}`.slice(-4_000)
  })
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text) as Line<Ready>
    if (line.type === "ready") resolve(line)
    else report(line.message)
  })
  child.once("error", (error) => {
    reject(error)
    end()
  })
  child.once("close", (code, signal) => {
    reject(new Error(`${file} ended with ${code ?? signal}: ${complaints}`))
    end()
  })
  // A program may end before its caller waits for it.
  ready.catch(() => {})
  return { process: child, ready, ended }
}
