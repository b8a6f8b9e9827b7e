/**
 * The end of a system.
 *
 * Steps: the roots get `shutdown` one after another, youngest first, and each end is awaited. Processes that become roots
 * by that follow. Then spawning is refused and the remaining processes are killed. Then the finalizers are awaited.
 *
 * STOP1. The time limits use the host's time, so that a stop completes even if the system's clock does not advance.
 * STOP2. Within them all end in order, also a process whose parent has just ended without a link to it.
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

/** Ends a root process: sends `shutdown`, and kills it after so many milliseconds of the host. */
export const endRoot = async (kernel: Pick<Kernel, "root">, cell: Cell, ms: number): Promise<void> => {
  signal(kernel.root, cell, "shutdown", "direct")
  if (cell.dead) return
  await within(ms, (done) => cell.watch({ down: done }))
  die(cell, "killed", "signal")
}

/** The parts of a kernel that `halt` ends. */
type HaltedKernel = Pick<Kernel, "root" | "processes" | "stopped">

/** Ends all processes and the system's resources at once; spawning is refused afterwards. */
export const halt = (kernel: HaltedKernel): void => {
  kernel.stopped = true
  for (const cell of kernel.processes.all.toReversed()) die(cell, "killed", "signal")
  release(kernel.root)
}

export const shutDown = async (
  kernel: HaltedKernel & Pick<Kernel, "fibers" | "whenQuiet">,
  ms: number
): Promise<void> => {
  const until = live.now() + ms
  do {
    for (const root of kernel.processes.all.filter(isRoot).toReversed()) {
      if (!root.dead) await endRoot(kernel, root, Math.max(0, until - live.now()))
    }
  } while (kernel.processes.size > 0 && live.now() < until)
  halt(kernel)
  if (kernel.fibers > 0) await within(ms, (done) => kernel.whenQuiet(done))
}
