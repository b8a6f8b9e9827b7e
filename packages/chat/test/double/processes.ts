/** Finds processes by what they are called. */
import { type Pid, System } from "@troupe/otp"

/** The living processes whose label begins with this. */
export const processesOf = (system: System.System, label: string): ReadonlyArray<Pid> =>
  [...System.processes(system)].filter((pid) => pid.label.startsWith(label))

/** The one living process whose label begins with this. */
export const processOf = (system: System.System, label: string): Pid => {
  const [found, ...others] = processesOf(system, label)
  if (found === undefined || others.length > 0)
    throw new Error(`${others.length + (found === undefined ? 0 : 1)} processes ${label}`)
  return found
}

/** What a system holds beside the handlers that outlived their calls, which nothing can end. */
export const heldBy = (system: System.System): System.Stats => {
  const stats = System.stats(system)
  return { ...stats, processes: stats.processes - processesOf(system, "Zombie ").length }
}
