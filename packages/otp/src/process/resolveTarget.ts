/** Resolves a target, a pid or an address, to its process. */
import { format, isName, type Name, type Target } from "../core/index.ts"
import { Cell, cellOf } from "../kernel/index.ts"

/** Returns a target that is an address; throws for any other value. */
export const addressOf = <M>(target: Target<M>): Name<M> => {
  if (typeof target === "object" && target !== null && isName(target)) return target
  throw new TypeError(`${format(target)} is neither a process nor an address: pass a pid or an address`)
}

/** The process of a pid, living or dead, or the living process of an address. */
export const cellAt = (target: Target): Cell | undefined => {
  if (target instanceof Cell) return target
  const pid = addressOf(target).whereis()
  return pid === undefined ? undefined : cellOf(pid)
}
