/**
 * The two places where a function can run and be killed: a worker thread, and a child process of Node.
 *
 * PLACE1. `ended` is told once, after the last message, when the thread or the child is gone.
 * PLACE2. A place that has ended is listened to no more.
 */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { serialize } from "node:v8"
import { Worker } from "node:worker_threads"
import type { FromPlace, ToPlace } from "./job.ts"

/** Where a function runs. */
export type Isolation = "worker" | "process"

/** Who hears of a place. */
export interface PlaceListener {
  readonly said: (message: FromPlace) => void
  /** It is gone, for this reason. */
  readonly ended: (reason: string) => void
}

/** A running place. */
export interface Place {
  /** Throws when the message cannot be sent there. */
  readonly send: (message: ToPlace) => void
  readonly kill: () => void
}

/** Runs as it lies beside this file: as TypeScript here, as JavaScript where it was built. */
const entry = new URL(import.meta.url.endsWith(".ts") ? "./entry.ts" : "./entry.js", import.meta.url)

/** Opens a place; throws when there can be none. */
export const open = (isolation: Isolation, listener: PlaceListener): Place =>
  isolation === "worker" ? openThread(listener) : openChild(listener)

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

const openThread = ({ said, ended }: PlaceListener): Place => {
  const worker = new Worker(entry)
  let fault: unknown
  worker.on("message", said)
  worker.on("messageerror", (error) => said({ type: "unsendable", message: error.message }))
  worker.once("error", (error) => (fault = error))
  worker.once("exit", (code) => {
    worker.removeAllListeners()
    ended(fault === undefined ? `its thread exited with code ${code}` : `its thread crashed: ${textOf(fault)}`)
  })
  return { send: (message) => worker.postMessage(message, []), kill: () => void worker.terminate() }
}

/** A child has ended when it has exited and what it said was read, whichever comes first. */
const openChild = ({ said, ended }: PlaceListener): Place => {
  const child: ChildProcess = fork(fileURLToPath(entry), [], {
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"]
  })
  let reason: string | undefined
  const endIfOver = () => {
    if (reason === undefined || child.connected) return
    const because = reason
    reason = undefined
    child.removeAllListeners()
    child.on("error", outOfUse)
    ended(because)
  }
  child.on("message", (message) => said(message as FromPlace))
  child.on("disconnect", endIfOver)
  child.once("exit", (code, signal) => {
    reason = signal === null ? `its process exited with code ${code}` : `its process was ended by ${signal}`
    endIfOver()
  })
  child.on("error", (error) => {
    // Of a child that runs it is a message that did not reach it, which its end explains.
    if (child.pid !== undefined) return
    reason = `its process could not be started: ${error.message}`
    endIfOver()
  })
  return {
    send: (message) => {
      if (child.connected) child.send(message, outOfUse)
    },
    kill: () => void child.kill("SIGKILL")
  }
}

/** What cannot be said to a child any more is no fault: its end says what became of it. */
const outOfUse = (): void => {}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
