/**
 * The processes whose mail and state are nobody else's business.
 *
 * SENS1. What a sensitive process gets, sends and knows is in no crash report, trace, event or stray mail from then on.
 */
import type { Name, Pid } from "../core/index.ts"

/** What stands in the place of what is not shown. */
export const withheld = "(sensitive)"

const sensitive = new WeakSet<Pid | Name>()

export const isSensitive = (pid: Pid | Name): boolean => sensitive.has(pid)

export const setSensitive = (pid: Pid, value: boolean): void => {
  if (value) sensitive.add(pid)
  else sensitive.delete(pid)
}
