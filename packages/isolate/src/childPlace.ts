/**
 * A child process of Node in which a function runs.
 *
 * Owns: the child, its process group, and the listener that kills the groups when this process exits. Does not own programs
 * that left the group.
 *
 * The child has two pipes. `channelFd` carries the messages, as frames. `hostFd` carries nothing: it closes when this
 * process ends, and the child's watchdog thread waits for that (`entry.ts`).
 *
 * CHILD1. However the child ends, its group is killed: the programs that its function started end with it.
 * CHILD2. No group outlives this process: this process kills the groups when it exits, and each child kills its own group
 *         when this process ends without that.
 * CHILD3. Bytes on the channel that are no frame end the child, not this process.
 * CHILD4. When the child has exited, `ended` is called at most `closeMs` later, even if another program holds its pipes
 *         open.
 */
import { Clock } from "@troupe/otp"
import { spawn } from "node:child_process"
import type { Duplex } from "node:stream"
import { fileURLToPath } from "node:url"
import { serialize } from "node:v8"
import { FrameReader, framed } from "./frames.ts"
import { childFlags } from "./placeFlags.ts"
import { channelFd, hostFd } from "./pipes.ts"
import type { Place, PlaceLimits, PlaceListener } from "./placeLimits.ts"

/** How long a pipe may stay open after its child has exited. */
const closeMs = 500

/** Windows has no process groups: there only the child itself is killed. */
const hasGroups = process.platform !== "win32"

/** Opens a child; throws when none can be opened. */
export const openChild = (entry: URL, limits: PlaceLimits, { received, ended }: PlaceListener): Place => {
  const { env, maxMemoryMb, maxMessageBytes } = limits
  const flags = [...childFlags(process.execArgv), `--max-old-space-size=${maxMemoryMb}`]
  const child = spawn(process.execPath, [...flags, fileURLToPath(entry)], {
    env,
    detached: hasGroups,
    windowsHide: true,
    stdio: ["ignore", "inherit", "inherit", "pipe", "pipe"]
  })
  const { pid } = child
  if (pid !== undefined) groups.add(pid)
  const kill = () => {
    if (pid !== undefined) killGroup(pid)
  }
  let fault: string | undefined
  let isOver = false
  let closing: unknown
  // Between the timer and `setImmediate` Node reads the bytes that the child sent before it exited, however busy this
  // process was.
  const closePipes = () => {
    for (const pipe of [channel, host]) pipe?.destroy()
  }
  const end = (reason: string) => {
    if (isOver) return
    isOver = true
    ended(fault ?? reason)
  }
  child.once("exit", () => {
    kill()
    if (pid !== undefined) groups.delete(pid)
    closing = Clock.live.setTimeout(() => setImmediate(closePipes), closeMs)
  })
  child.once("close", (code, signal) => {
    Clock.live.clearTimeout(closing)
    end(childEnd(code, signal, maxMemoryMb))
  })
  child.on("error", (error) => {
    if (pid === undefined) end(`its process could not be started: ${error.message}`)
  })
  const [channel, host] = [child.stdio[channelFd] as Duplex | undefined, child.stdio[hostFd] as Duplex | undefined]
  const reader = new FrameReader(received, maxMessageBytes)
  const read = (chunk: Buffer) => {
    try {
      reader.push(chunk)
    } catch (cause) {
      channel?.off("data", read)
      channel?.resume()
      fault = `its process broke the channel to this one: ${cause instanceof Error ? cause.message : String(cause)}`
      kill()
    }
  }
  channel?.on("data", read)
  // A broken pipe means that the child ended, which "close" reports.
  for (const pipe of [channel, host]) pipe?.on("error", () => {})
  return {
    send: (message) => {
      const frame = framed(serialize(message))
      if (channel?.writable === true) channel.write(frame)
    },
    kill
  }
}

const childEnd = (code: number | null, signal: NodeJS.Signals | null, maxMemoryMb: number): string => {
  // V8 aborts when the heap is full; on systems without signals, with this code.
  if (signal === "SIGABRT" || code === 134) {
    return `its process aborted, as one does that needs more than maxMemoryMb, which is ${maxMemoryMb}`
  }
  return signal === null ? `its process exited with code ${code}` : `its process was ended by ${signal}`
}

const killGroup = (pid: number): void => {
  try {
    process.kill(hasGroups ? -pid : pid, "SIGKILL")
  } catch {
    // The group has no process left.
  }
}

/** The process groups of the living children, each named by its child's id. */
class Groups {
  readonly #pids = new Set<number>()
  readonly #killAll = () => {
    for (const pid of this.#pids) killGroup(pid)
  }

  add(pid: number): void {
    if (this.#pids.size === 0) process.on("exit", this.#killAll)
    this.#pids.add(pid)
  }

  delete(pid: number): void {
    this.#pids.delete(pid)
    if (this.#pids.size === 0) process.off("exit", this.#killAll)
  }
}

const groups = new Groups()
