/**
 * Processes that have a fifth of a processor core each: by cgroups where they are writable, else by signals.
 *
 * The signals freeze each process for the last four fifths of a cycle of 50 ms.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const share = 0.2
const periodUs = 100_000
const cycleMs = 50

/** How processes are limited, or the reason why they cannot be. */
export type Limiter = { readonly name: string; readonly limit: (pids: ReadonlyArray<number>) => () => void }

/** The folders of the two versions of cgroups, and the files of the limit. */
const cgroups = [
  {
    root: "/sys/fs/cgroup/cpu",
    files: [["cpu.cfs_period_us", periodUs] as const, ["cpu.cfs_quota_us", share * periodUs] as const]
  },
  { root: "/sys/fs/cgroup", files: [["cpu.max", `${share * periodUs} ${periodUs}`] as const] }
] as const

const membersOf = (folder: string): ReadonlyArray<string> =>
  readFileSync(join(folder, "cgroup.procs"), "utf8")
    .split("\n")
    .filter((pid) => pid !== "")

/** Moves the processes to groups of their own, and returns the function that moves them back. */
const group = ({ root, files }: (typeof cgroups)[number], pids: ReadonlyArray<number>): (() => void) => {
  const folders = pids.map((pid) => join(root, `troupe-bench-${process.pid}-${pid}`))
  const remove = (): void => {
    for (const folder of folders) {
      for (const pid of membersOf(folder)) writeFileSync(join(root, "cgroup.procs"), pid)
      rmdirSync(folder)
    }
  }
  for (const [index, folder] of folders.entries()) {
    mkdirSync(folder)
    for (const [file, value] of files) writeFileSync(join(folder, file), String(value))
    writeFileSync(join(folder, "cgroup.procs"), String(pids[index]))
  }
  return remove
}

const bySignals = (pids: ReadonlyArray<number>): (() => void) => {
  const signal = (name: NodeJS.Signals): void => {
    for (const pid of pids) process.kill(pid, name)
  }
  let pausing: NodeJS.Timeout | undefined
  const cycle = setInterval(() => {
    signal("SIGCONT")
    pausing = setTimeout(() => signal("SIGSTOP"), share * cycleMs)
  }, cycleMs)
  return () => {
    clearInterval(cycle)
    clearTimeout(pausing)
    signal("SIGCONT")
  }
}

/** The limiter of this machine. It is tried with a process, which is not limited afterwards. */
export const limiterFor = (pid: number): Limiter => {
  for (const one of cgroups) {
    try {
      group(one, [pid])()
      return { name: `cgroups at ${one.root}`, limit: (pids) => group(one, pids) }
    } catch {
      // These cgroups cannot be written.
    }
  }
  return { name: `signals, in cycles of ${cycleMs} ms`, limit: bySignals }
}
