/**
 * A program: one application in a system, from start to end.
 *
 * Owns the signal listeners and the timer that keeps the host alive, from the start until the system has stopped.
 *
 * PROG1. A signal, the end of an application that stops the system, or the stop of its own application ends the program:
 *        the first of them counts. A later one changes only how fast the program ends.
 * PROG2. When a signal comes after the end has begun, the system is halted: the remaining processes end at once.
 * PROG3. When the run is over, none of its listeners and timers is left, whatever its outcome.
 */
import { live } from "../time/index.ts"
import { isNormal } from "../core/index.ts"
import { halt, make, stop } from "../system/index.ts"
import { tableOf } from "./applicationTable.ts"
import { kernelOf } from "../kernel/index.ts"
import type { Definition, End, Outcome, RunOptions, Signals } from "./definition.ts"

const day = 86_400_000

/** Keeps the host alive; returns a function that stops it. */
const keepAlive = (): (() => void) => {
  let id: unknown
  const arm = (): void => {
    id = live.setTimeout(arm, day)
  }
  arm()
  return () => live.clearTimeout(id)
}

/** Adds listeners for some signals; returns a function that removes them. */
const listen = (
  signals: Signals | undefined,
  names: ReadonlyArray<string>,
  userAnswer: (signal: string) => void
): (() => void) => {
  const listeners = names.map((name) => ({ name, listener: () => userAnswer(name) }))
  for (const { name, listener } of listeners) signals?.on(name, listener)
  return () => {
    for (const { name, listener } of listeners) signals?.off(name, listener)
  }
}

const isClean = (end: End): boolean => end._tag !== "ApplicationEnded" || isNormal(end.reason)

export const runUntilEnd = async (application: Definition, options: RunOptions): Promise<Outcome> => {
  const system = options.system ?? make({ name: application.name })
  const kernel = kernelOf(system)
  const table = tableOf(kernel)
  const ending = Promise.withResolvers<End>()
  const phase = { ending: false, halted: false }
  const ended = (end: End): void => {
    phase.ending = true
    ending.resolve(end)
  }
  const userAnswer = (signal: string): void => {
    if (!phase.ending) return ended({ _tag: "Signal", signal })
    phase.halted = true
    halt(kernel)
  }
  const releases = [
    keepAlive(),
    table.whenEnded(application.name, ended),
    listen(options.signals, options.names ?? ["SIGINT", "SIGTERM"], userAnswer)
  ]
  const bound = options.timeout === undefined ? {} : { timeout: options.timeout }
  try {
    const starting = table.startAll(application, options.kind ?? "permanent")
    const end = await Promise.race([ending.promise, starting.then(() => ending.promise)])
    await stop(system, bound)
    return { status: isClean(end) && !phase.halted ? 0 : 1, end }
  } catch (error) {
    phase.ending = true
    await stop(system, bound)
    throw error
  } finally {
    for (const release of releases) release()
  }
}
