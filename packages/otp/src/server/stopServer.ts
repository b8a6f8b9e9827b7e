/**
 * The wait for a process that is asked to end.
 *
 * Steps: watch it, send the request, then wait for its end or the timeout, whichever is first.
 *
 * SELFSTOP1. A process that stops itself, in its turn or as `from`, gets `calling_self` at once: it would wait for its own end.
 * SELFSTOP2. When a request of no known process waits 5 seconds for a process that is busy, the log says so once. It may be the process
 *            itself after an `await`: JavaScript does not reveal the running process there.
 */
import * as Equal from "effect/Equal"
import { CallExit, type ExitReason, type Pid, StopMessage } from "../core/index.ts"
import { type Cell, deliver, startTimer } from "../kernel/index.ts"

const suspicious = 5000

/** Reports a request that waits for a busy process (SELFSTOP2); returns the function that ends the watch. */
const watchBusy = (cell: Cell, where: string): (() => void) => {
  const { clock, log } = cell.kernel
  const { busy } = cell
  if (!busy || log === undefined || clock.setBackgroundTimeout === undefined) return () => {}
  const error =
    "it is busy: a process that stops itself after an await waits for itself. Return GenServer.stopping there, or pass the process as from"
  const id = clock.setBackgroundTimeout(() => {
    if (cell.busy) log.report({ subject: `${where} waits for ${cell.label} ${cell}`, error })
  }, suspicious)
  return () => clock.clearTimeout(id)
}

export const stopServer = (
  cell: Cell | undefined,
  reason: ExitReason,
  ms: number,
  where: string,
  from: Pid | undefined = cell?.kernel.current
): Promise<void> =>
  new Promise((resolve, reject) => {
    if (cell === undefined || cell.dead) return reject(new CallExit({ reason: "noproc", in: where }))
    if (from === cell) return reject(new CallExit({ reason: "calling_self", in: where }))
    const unwatch = from === undefined ? watchBusy(cell, where) : undefined
    const timer = startTimer(cell.kernel, undefined, ms, () => {
      unwatch?.()
      cell.watchers?.delete(watcher)
      reject(new CallExit({ reason: "timeout", in: where }))
    })
    const watcher = {
      down: (_cell: Cell, ended: ExitReason): void => {
        timer?.close()
        unwatch?.()
        if (Equal.equals(ended, reason)) resolve()
        else reject(new CallExit({ reason: ended, in: where }))
      }
    }
    cell.watch(watcher)
    deliver(cell, new StopMessage(reason))
  })
