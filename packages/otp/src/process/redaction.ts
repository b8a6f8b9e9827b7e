/**
 * The processes whose messages and state are withheld.
 *
 * SENS1. From then on, no crash report, trace, event or dead letter shows a sensitive process's messages or state.
 */
import type { Name, Pid } from "../core/index.ts"

/** The text that replaces withheld content. */
export const withheld = "(sensitive)"

const sensitive = new WeakSet<Pid | Name>()

export const isSensitive = (pid: Pid | Name): boolean => sensitive.has(pid)

export const setSensitive = (pid: Pid, value: boolean): void => {
  if (value) sensitive.add(pid)
  else sensitive.delete(pid)
}
