/** From a target, a pid or an address, to the process behind it. */
import { isName } from "../Pid.ts"
import type { Target } from "../Pid.ts"
import { cellOf } from "./cell.ts"
import type { Cell } from "./cell.ts"

/** The living or dead process of a pid, or the living one behind an address. */
export const cellAt = (target: Target): Cell | undefined => {
  if (!isName(target)) return cellOf(target)
  const pid = target.whereis()
  return pid === undefined ? undefined : cellOf(pid)
}
