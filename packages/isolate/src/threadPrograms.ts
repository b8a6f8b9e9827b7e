/**
 * The programs that the function of a thread starts.
 *
 * Owns: the process groups of the programs, and the guard: a shell that reads the groups from a pipe of the thread and kills
 * them when the pipe closes. Does not own programs that the function itself detached, nor those of its own threads.
 *
 * THREAD1. However the thread ends, the groups of its programs are killed: the end of the thread closes the pipe.
 * THREAD2. However this process ends, `SIGKILL` too, the groups are killed: the end of the process closes the pipe.
 * THREAD3. When a program exits and leaves no other program in its group, the guard forgets the group: the system may give
 *          its number to another one.
 *
 * When a thread ends while it starts a program:
 *   1. the program has started, and the thread has not yet run another line.
 *   2. the thread is terminated: a thread ends only between two lines of JavaScript.
 *   3. so the line that writes the group to the pipe may not run. The program survives; it is the last one of its thread.
 */
import { ChildProcess, spawn } from "node:child_process"
import type { Writable } from "node:stream"

/** Reads `start <group>` and `end <group>`, and kills the groups that are left when its input ends. */
export const guardProgram = `groups=" "
while read -r change group; do
  case "$change" in
    start) groups="$groups$group " ;;
    end) groups="\${groups%% $group *} \${groups#* $group }" ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done`

/** The options of `ChildProcess.prototype.spawn`, which every asynchronous function of `node:child_process` calls. */
interface SpawnOptions {
  /** Whether the program may outlive this one. */
  readonly detached?: boolean | undefined
}

type Spawn = (this: ChildProcess, options: SpawnOptions) => unknown

/** Gives each program that this thread starts a process group of its own, which ends with the thread. */
export const guardPrograms = (): void => {
  const start = Reflect.get(ChildProcess.prototype, "spawn") as Spawn
  let guard: Writable | undefined
  let isGuard = false
  const openGuard = (): Writable => {
    isGuard = true
    try {
      const shell = spawn("/bin/sh", ["-c", guardProgram], {
        stdio: ["pipe", "ignore", "ignore"],
        env: {},
        detached: true
      })
      // Without a shell there is no guard, and the programs are those of the function.
      shell.on("error", () => {})
      shell.stdin.on("error", () => {})
      shell.unref()
      return shell.stdin
    } finally {
      isGuard = false
    }
  }
  const guarded: Spawn = function (options) {
    if (isGuard || options.detached === true) return start.call(this, options)
    const pipe = (guard ??= openGuard())
    const started = start.call(this, { ...options, detached: true })
    const { pid } = this
    if (pid === undefined) return started
    // The system takes a short line of a pipe at once, so it is written also when this thread never yields.
    pipe.write(`start ${pid}\n`)
    this.once("exit", () => {
      if (!isGroup(pid)) pipe.write(`end ${pid}\n`)
    })
    return started
  }
  Reflect.set(ChildProcess.prototype, "spawn", guarded)
}

const isGroup = (pid: number): boolean => {
  try {
    process.kill(-pid, 0)
    return true
  } catch {
    return false
  }
}
