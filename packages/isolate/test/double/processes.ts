/** Looks at the processes of this machine. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"

interface Entry {
  readonly pid: number
  readonly group: number
}

/** The processes that run; one that has ended and was not yet collected by its parent does not. */
const entries = (): ReadonlyArray<Entry> => (process.platform === "linux" ? fromProc() : fromPs())

const fromProc = (): ReadonlyArray<Entry> =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = statOf(name)
      // The name of the program is in parentheses and may have spaces.
      const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
      return state === undefined || state === "" || state === "Z" ? [] : [{ pid: Number(name), group: Number(group) }]
    })

const statOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
  } catch {
    return ""
  }
}

const fromPs = (): ReadonlyArray<Entry> =>
  execFileSync("ps", ["-axo", "pid=,pgid=,stat="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , state]) => state?.startsWith("Z") === false)
    .map(([pid, group]) => ({ pid: Number(pid), group: Number(group) }))

/** Whether a process runs. */
export const runs = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return process.platform === "win32" || entries().some((entry) => entry.pid === pid)
}

/** The processes that run in one of these process groups; on Windows, which has none, those of these ids. */
export const inGroups = (groups: ReadonlyArray<number>): ReadonlyArray<number> =>
  process.platform === "win32"
    ? groups.filter(runs)
    : entries()
        .filter(({ group }) => groups.includes(group))
        .map(({ pid }) => pid)
