/**
 * The wait for a process that is asked to end.
 *
 * Steps: watch it, send the request, then wait for its end or the timeout, whichever is first.
 *
 * SELFSTOP1. A process that stops itself, in its turn or as `from`, gets `calling_self` at once: it would wait for its own end.
 */
import * as Equal from "effect/Equal"
import { CallExit, type ExitReason, type Pid, StopMessage } from "../core/index.ts"
import { type Cell, deliver, startTimer } from "../kernel/index.ts"

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
    const timer = startTimer(cell.kernel, undefined, ms, () => {
      cell.watchers?.delete(watcher)
      reject(new CallExit({ reason: "timeout", in: where }))
    })
    const watcher = {
      down: (_cell: Cell, ended: ExitReason): void => {
        timer?.close()
        if (Equal.equals(ended, reason)) resolve()
        else reject(new CallExit({ reason: ended, in: where }))
      }
    }
    cell.watch(watcher)
    deliver(cell, new StopMessage(reason))
  })
