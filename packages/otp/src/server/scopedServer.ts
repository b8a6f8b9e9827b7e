/**
 * A server whose lifetime is a scope.
 *
 * SCOPED1. It is up when the effect succeeds. It is dead when the scope has closed: it ends like a supervisor's child.
 * SCOPED2. If the effect is interrupted before the server is up, the server is killed, and nothing is left.
 * SCOPED3. The time limit uses the host's time, so that a scope closes even if the system's clock does not advance.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type StartFailed, type StartIgnored, System, type SystemStopped } from "../core/index.ts"
import { type Cell, type Kernel, kernelOf } from "../kernel/index.ts"
import { endRoot } from "../system/index.ts"

/** Starts a server in the system of the context, and ends it with the scope. */
export const scopedServer = (
  start: (kernel: Kernel) => Effect.Effect<Cell, StartFailed | StartIgnored | SystemStopped>,
  ms: number
): Effect.Effect<Cell, StartFailed | StartIgnored | SystemStopped, System | Scope.Scope> =>
  Effect.flatMap(Effect.service(System), (system) =>
    Effect.acquireRelease(start(kernelOf(system)), (cell) => Effect.promise(() => endRoot(cell.kernel, cell, ms)), {
      interruptible: true
    })
  )
