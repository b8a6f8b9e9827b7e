/**
 * The scope and the abort signal of a process, each made at its first use.
 *
 * LIFE1. Each is closed once, after the process died. If made later, it is closed at once.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { type Cell, SelfExit } from "../kernel/index.ts"
import { runClosing } from "./processFiber.ts"

const scopes = new WeakMap<Cell, Scope.Closeable>()
const aborts = new WeakMap<Cell, AbortController>()

const closeWith = (cell: Cell, close: () => void): void => {
  if (cell.dead) close()
  else cell.own({ close })
}

export const scopeOf = (cell: Cell): Scope.Scope => {
  const existing = scopes.get(cell)
  if (existing !== undefined) return existing
  const made = Scope.makeUnsafe()
  scopes.set(cell, made)
  closeWith(cell, () =>
    runClosing(
      cell.kernel,
      Effect.suspend(() => Scope.close(made, Exit.die(new SelfExit(cell.reason))))
    )
  )
  return made
}

export const abortSignalOf = (cell: Cell): AbortSignal => {
  const existing = aborts.get(cell)
  if (existing !== undefined) return existing.signal
  const controller = new AbortController()
  aborts.set(cell, controller)
  closeWith(cell, () => controller.abort(cell.reason))
  return controller.signal
}
