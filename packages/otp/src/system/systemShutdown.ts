/**
 * The end of a system.
 *
 * Steps: the roots get `shutdown` one after another, the youngest first, each one's end awaited; then those that became
 * roots by that; then nothing new can be spawned and what is left is killed; then the finalizers have their time.
 *
 * STOP1. The bounds are of the host's time, so that a stop ends even where the system's clock stands still.
 * STOP2. Within them all are ended in order: also a process whose parent, to which it was not linked, has just ended.
 */
import { live } from "../time/index.ts"
import { type Cell, die, type Kernel, release, signal } from "../kernel/index.ts"

/** Resolves when `subscribe` calls back, or after so many milliseconds of the host. */
const within = (ms: number, subscribe: (done: () => void) => void): Promise<void> =>
  new Promise((resolve) => {
    const id = live.setTimeout(resolve, ms)
    subscribe(() => {
      live.clearTimeout(id)
      resolve()
    })
  })

const isRoot = (cell: Cell): boolean => cell.parent === undefined || cell.parent.dead

/** Ends a process that nobody else ends: `shutdown`, and after so many milliseconds of the host `kill`. */
export const endRoot = async (kernel: Kernel, cell: Cell, ms: number): Promise<void> => {
  signal(kernel.root, cell, "shutdown", "direct")
  if (cell.dead) return
  await within(ms, (done) => cell.watch({ down: done }))
  die(cell, "killed", "signal")
}

/** Ends all processes at once, and what belongs to the system; nothing can be spawned after. */
export const halt = (kernel: Kernel): void => {
  kernel.stopped = true
  for (const cell of kernel.processes.all.toReversed()) die(cell, "killed", "signal")
  release(kernel.root)
}

export const shutDown = async (kernel: Kernel, ms: number): Promise<void> => {
  const until = live.now() + ms
  do {
    for (const root of kernel.processes.all.filter(isRoot).toReversed()) {
      if (!root.dead) await endRoot(kernel, root, Math.max(0, until - live.now()))
    }
  } while (kernel.processes.size > 0 && live.now() < until)
  halt(kernel)
  if (kernel.fibers > 0) await within(ms, (done) => kernel.whenQuiet(done))
}
