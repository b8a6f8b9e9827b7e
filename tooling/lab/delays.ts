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

export class Delays {
  readonly #timer: NodeJS.Timeout
  #total = 0

  /** Notes the delay of each interval, until `stop`. */
  constructor(note: (ms: number) => void = () => {}) {
    let [at, waited] = [performance.now(), waitedMs()]
    this.#timer = setInterval(() => {
      const [now, total] = [performance.now(), waitedMs()]
      const elapsed = now - at
      const ms = Math.round(Math.min(Math.max(total - waited, elapsed - everyMs), mostOf * elapsed))
      if (ms > 0) note(ms)
      this.#total += Math.max(0, ms)
      at = now
      waited = total
    }, everyMs)
  }

  /** A clock, in milliseconds, that stands still while the machine delays. */
  now(): number {
    return performance.now() - this.#total
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

/** Whether some work settles within a time in which the delay by the machine does not count. */
export const settlesWithin = async (ms: number, work: Promise<unknown>): Promise<boolean> => {
  const delays = new Delays()
  const end = delays.now() + ms
  let isOver = false
  const settled = work.finally(() => (isOver = true)).catch(() => {})
  while (!isOver && delays.now() < end) await Promise.race([settled, setTimeout(everyMs, undefined, { ref: false })])
  delays.stop()
  return isOver
}
