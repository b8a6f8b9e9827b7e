/**
 * A server that lives as long as a scope.
 *
 * SCOPED1. It is up when the effect succeeds, and dead when the scope has closed: ended as a supervisor ends a child.
 * SCOPED2. Interrupted before it is up, it is killed, and nothing is left.
 * SCOPED3. The bound for that is of the host's time, so that a scope closes even where the system's clock stands still.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type StartFailed, type StartIgnored, System, type SystemStopped } from "../core/index.ts"
import { type Cell, type Kernel, kernelOf } from "../kernel/index.ts"
import { endRoot } from "../system/index.ts"

/** Has a server started in the system of the context, and ended with the scope. */
export const scopedServer = (
  start: (kernel: Kernel) => Effect.Effect<Cell, StartFailed | StartIgnored | SystemStopped>,
  ms: number
): Effect.Effect<Cell, StartFailed | StartIgnored | SystemStopped, System | Scope.Scope> =>
  Effect.flatMap(Effect.service(System), (system) =>
    Effect.acquireRelease(start(kernelOf(system)), (cell) => Effect.promise(() => endRoot(cell.kernel, cell, ms)), {
      interruptible: true
    })
  )
