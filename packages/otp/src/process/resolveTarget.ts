/** From a target, a pid or an address, to the process behind it. */
import { format, isName, type Name, type Target } from "../core/index.ts"
import { Cell, cellOf } from "../kernel/index.ts"

/** The address that a target is which is no process; refuses what is neither. */
export const addressOf = <M>(target: Target<M>): Name<M> => {
  if (typeof target === "object" && target !== null && isName(target)) return target
  throw new TypeError(`${format(target)} is neither a process nor an address: pass a pid or an address`)
}

/** The living or dead process of a pid, or the living one behind an address. */
export const cellAt = (target: Target): Cell | undefined => {
  if (target instanceof Cell) return target
  const pid = addressOf(target).whereis()
  return pid === undefined ? undefined : cellOf(pid)
}
