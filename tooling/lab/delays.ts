/**
 * The delay by the machine: for how long processes waited for a processor.
 *
 * Owns: the timer that measures it. On Linux it is the time in which some process waited (`/proc/pressure/cpu`), elsewhere how
 * late the timers of the own process are.
 *
 * LAB16. At most three quarters of a time count as delay, so that each bound holds within four times itself.
 */
import { existsSync, readFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"

/** How often it is measured, in milliseconds, and the greatest part that counts (LAB16). */
const everyMs = 250
const mostOf = 0.75

const pressurePath = "/proc/pressure/cpu"

/** How long some process has waited since the start of the machine, in milliseconds; 0 if that is not known. */
const waitedMs = (): number =>
  existsSync(pressurePath)
    ? Number(/^some .*total=(\d+)/mu.exec(readFileSync(pressurePath, "utf8"))?.[1] ?? 0) / 1_000
    : 0

/** Notes the delay of each interval, until `stop`. Its clock, in milliseconds, stands still while the machine delays. */
export const delaysOf = (note: (ms: number) => void = () => {}) => {
  let [at, waited, sum] = [performance.now(), waitedMs(), 0]
  const timer = setInterval(() => {
    const [now, total] = [performance.now(), waitedMs()]
    const elapsed = now - at
    const ms = Math.max(0, Math.round(Math.min(Math.max(total - waited, elapsed - everyMs), mostOf * elapsed)))
    if (ms > 0) note(ms)
    sum += ms
    at = now
    waited = total
  }, everyMs).unref()
  return { now: () => performance.now() - sum, stop: () => clearInterval(timer) }
}

/** Waits until a condition holds, for a time in which the delay by the machine does not count; returns whether it holds. */
export const until = async (holds: () => boolean | Promise<boolean>, ms = 2_000, pauseMs = 5): Promise<boolean> => {
  const delays = delaysOf()
  const end = delays.now() + ms
  let isTrue = await holds()
  while (!isTrue && delays.now() < end) {
    await setTimeout(pauseMs)
    isTrue = await holds()
  }
  delays.stop()
  return isTrue
}

/** Whether some work settles within such a time. */
export const settlesWithin = (ms: number, work: Promise<unknown>): Promise<boolean> => {
  let isOver = false
  void Promise.allSettled([work]).then(() => (isOver = true))
  return until(() => isOver, ms)
}
