/** The wait of one process for the end of another. */
import type { Shutdown } from "../core/index.ts"
import { type Cell, die, signal, startTimer } from "../kernel/index.ts"

/**
 * Resolves with whether the target died in time.
 *
 * AWAIT1. When the waiting process dies, the wait is cancelled and cleaned up; the promise never resolves.
 */
const awaitDeath = (owner: Cell, target: Cell, ms: number): Promise<boolean> =>
  new Promise((resolve) => {
    const finish = (died: boolean): void => {
      timer?.close()
      target.watchers?.delete(watcher)
      owner.disown(wait)
      resolve(died)
    }
    const watcher = { down: () => finish(true) }
    const wait = { close: () => target.watchers?.delete(watcher) }
    const timer = startTimer(owner.kernel, owner, ms, () => finish(false))
    target.watch(watcher)
    owner.own(wait)
  })

/** Ends a child by its shutdown rule; resolves when it is dead. */
export const endChild = async (owner: Cell, child: Cell, shutdown: Shutdown): Promise<void> => {
  if (shutdown === "brutalKill") return signal(owner, child, "kill", "direct")
  signal(owner, child, "shutdown", "direct")
  if (child.dead) return
  const ms = shutdown === "infinity" ? Number.POSITIVE_INFINITY : shutdown
  if (!(await awaitDeath(owner, child, ms))) die(child, "killed", "signal")
}
