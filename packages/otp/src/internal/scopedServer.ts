/**
 * A server that lives as long as a scope.
 *
 * SCOPED1. It is up when the effect succeeds, and dead when the scope has closed: ended as a supervisor ends a child.
 * SCOPED2. Interrupted before it is up, it is killed, and nothing is left.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Shutdown } from "../ChildSpec.ts"
import type { StartFailed, StartIgnored } from "../OtpError.ts"
import { System } from "../System.ts"
import { endChild } from "./awaitDeath.ts"
import type { Cell } from "./cell.ts"
import { kernelOf } from "./kernel.ts"
import type { Kernel } from "./kernel.ts"

/** Has a server started in the system of the context, and ended with the scope. */
export const scopedServer = (
  start: (kernel: Kernel) => Effect.Effect<Cell, StartFailed | StartIgnored>,
  shutdown: Shutdown
): Effect.Effect<Cell, StartFailed | StartIgnored, System | Scope.Scope> =>
  Effect.flatMap(Effect.service(System), (system) =>
    Effect.acquireRelease(
      start(kernelOf(system)),
      (cell) => Effect.promise(() => endChild(cell.kernel.root, cell, shutdown)),
      { interruptible: true }
    )
  )
