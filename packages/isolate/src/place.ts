/**
 * The two places where a function can run and be killed: a worker thread, and a child process of Node.
 *
 * PLACE1. `ended` is called once, after the last message, when the thread or the child is gone.
 * PLACE2. A place that has ended has no listeners.
 * PLACE3. `received` gets the place's messages unchecked; the bytes of a child never cause an exception in this process.
 * ISO6. A place that needs more than `maxMemoryMb` ends, as a `handler_exit` that names the limit.
 */
import { serialize } from "node:v8"
import { Worker } from "node:worker_threads"
import { openChild } from "./childPlace.ts"
import { placeNodeOptions, threadFlags } from "./placeFlags.ts"
import type { PlaceListener, PlaceLimits, Place } from "./placeLimits.ts"

/** Where a function runs. */
export type Isolation = "worker" | "process"

/** A file beside this one: TypeScript in the workspace, JavaScript in the built package. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./entry.ts" : "./entry.js", import.meta.url)

/** Opens a place; throws when none can be opened. */
export const open = (isolation: Isolation, limits: PlaceLimits, listener: PlaceListener): Place =>
  isolation === "worker" ? openThread(limits, listener) : openChild(entry, limits, listener)

/** Whether a value can be sent to such a place. */
export const isSendable = (isolation: Isolation, value: unknown): boolean => {
  try {
    if (isolation === "worker") structuredClone(value)
    else serialize(value)
    return true
  } catch {
    return false
  }
}

const openThread = ({ maxMemoryMb }: PlaceLimits, { received, ended }: PlaceListener): Place => {
  const worker = new Worker(entry, {
    env: { ...process.env, NODE_OPTIONS: placeNodeOptions(process.env["NODE_OPTIONS"] ?? "") },
    execArgv: threadFlags(process.execArgv),
    resourceLimits: { maxOldGenerationSizeMb: maxMemoryMb }
  })
  let fault: Error | undefined
  worker.on("message", received)
  worker.on("messageerror", received)
  worker.on("error", (error) => (fault = error instanceof Error ? error : new Error(String(error))))
  worker.once("exit", (code) => {
    worker.removeAllListeners()
    ended(threadEnd(code, fault, maxMemoryMb))
  })
  return { send: (message) => worker.postMessage(message, []), kill: () => void worker.terminate() }
}

const threadEnd = (code: number, fault: Error | undefined, maxMemoryMb: number): string => {
  if (fault === undefined) return `its thread exited with code ${code}`
  if ("code" in fault && fault.code === "ERR_WORKER_OUT_OF_MEMORY") {
    return `its thread needed more than maxMemoryMb, which is ${maxMemoryMb}`
  }
  return `its thread crashed: ${fault.message}`
}
