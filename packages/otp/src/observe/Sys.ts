/**
 * Inspection and control of one living process.
 *
 * For servers, machines and supervisors: read and replace the state, suspend and resume, read the status. For every
 * process: trace its messages and count them. It is meant for debugging and for tools; programs use their own messages.
 *
 * **Details**
 *
 * A request is taken in mailbox order, like a message, but no callback sees it. A suspended process takes requests at
 * once.
 *
 * **Errors**
 *
 * A request rejects with `CallExit`, like a call: `timeout`, `noproc`, `calling_self` or the exit reason of the process.
 * It rejects with `NoSystemMessages` if the process does not take requests.
 *
 * @example
 * ```ts import.meta.vitest
 * import { GenServer, Sys, System } from "@troupe/otp"
 *
 * const counter = GenServer.make({
 *   init: (from: number) => GenServer.ok(from),
 *   handleCall: (_request: "get", _from, state) => GenServer.replying(state, state)
 * })
 * const system = System.make()
 * const pid = await GenServer.start(system, counter, 41)
 * await Sys.replaceState<number>(pid, (state) => state + 1) // => 42
 * await GenServer.call(pid, "get") // => 42
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * Erlang's `sys`.
 */
import {
  format,
  milliseconds,
  type Name,
  NoSystemMessages,
  type Pid,
  StateFixed,
  summary,
  type Timeout
} from "../core/index.ts"
import { type Cell, SysMessage } from "../kernel/index.ts"
import { cellAt, PendingCall } from "../process/index.ts"
import { isSuspended, resumeCell, suspendCell } from "./suspension.ts"
import { currentWatch, type TraceEvent, watchOf } from "../telemetry/index.ts"

export type { TraceEvent } from "../telemetry/index.ts"

/** How a request waits for its process. */
export interface Options {
  /** How long the request waits for a busy process. Default: 5 seconds. */
  readonly timeout?: Timeout
}

const ask = <A>(where: string, target: Pid | Name, options: Options, act: (cell: Cell) => A): Promise<A> =>
  new Promise((resolve, reject) => {
    const server = cellAt(target)
    if (server !== undefined && !server.dead && server.behaviour.handle === undefined) {
      return reject(new NoSystemMessages({ pid: server }))
    }
    const route = { server, caller: server?.kernel.current, ms: milliseconds(options.timeout ?? 5000), in: where }
    const pending = new PendingCall(route, (answer) => (answer as () => void)(), reject)
    pending.begin(new SysMessage(() => pending.answer(answerOf(server, act, resolve, reject))))
  })

/** Runs the request in the turn of the process; its error goes to the caller and does not affect the process. */
const answerOf = <A>(
  cell: Cell | undefined,
  act: (cell: Cell) => A,
  resolve: (value: A) => void,
  reject: (error: unknown) => void
): (() => void) => {
  if (cell === undefined) return () => {}
  try {
    const value = act(cell)
    return () => resolve(value)
  } catch (error) {
    return () => reject(error)
  }
}

/**
 * Reads the state: the state of a server, the snapshot of a machine, or the rules and the children of a supervisor.
 */
export const getState = <S = unknown>(target: Pid | Name, options: Options = {}): Promise<S> =>
  ask("Sys.getState", target, options, (cell) => cell.behaviour.inspect?.() as S)

/**
 * Replaces the state of a server or the snapshot of a machine; resolves with the new one.
 *
 * **Contract**
 *
 * `change` runs in the turn of the process and returns synchronously. If it throws, this rejects with the error and the
 * state does not change.
 *
 * **Errors**
 *
 * Rejects with `StateFixed` if the state is not the user's, as in supervisors and registries.
 *
 * **Gotchas**
 *
 * A machine enters and leaves no states, and starts and stops no actors: change only its `context`.
 */
export const replaceState = <S = unknown>(
  target: Pid | Name,
  change: (state: S) => S,
  options: Options = {}
): Promise<S> =>
  ask("Sys.replaceState", target, options, (cell) => {
    const { behaviour } = cell
    if (behaviour.replace === undefined) throw new StateFixed({ pid: cell, kind: behaviour.kind })
    const next = change(behaviour.inspect?.() as S)
    if (!behaviour.replace(next)) throw new StateFixed({ pid: cell, kind: behaviour.kind })
    return next
  })

/**
 * Suspends a process: its messages wait until `resume`.
 *
 * **Details**
 *
 * It is suspended after it has handled the earlier messages. It still takes requests, the request to stop, exit signals
 * and the end of its parent. A second suspension changes nothing.
 */
export const suspend = (target: Pid | Name, options: Options = {}): Promise<void> =>
  ask("Sys.suspend", target, options, suspendCell)

/** Resumes a suspended process. Does nothing if it is not suspended. */
export const resume = (target: Pid | Name, options: Options = {}): Promise<void> =>
  ask("Sys.resume", target, options, resumeCell)

/** The status of a process. */
export interface Status {
  /** The process. */
  readonly pid: Pid
  /** Its displayed name. */
  readonly label: string
  /** Its registered name; `undefined` without one. */
  readonly name: string | undefined
  /** `process`, `server`, `machine`, `supervisor`, … */
  readonly kind: string
  /** Whether it handles messages, or is suspended. */
  readonly status: "running" | "suspended"
  /** The process that started it. */
  readonly parent: Pid | undefined
  /** Whether exit signals are messages. */
  readonly trapExit: boolean
  /** The number of unread messages. */
  readonly queueLength: number
  /** The processes that are linked to it. */
  readonly links: ReadonlyArray<Pid>
  /** Its state itself, or what `formatStatus` of a server shows of it. */
  readonly state: unknown
  /** The counts of the process; `undefined` while its statistics are off. */
  readonly statistics: Statistics | undefined
}

/** Reads the status of a process, including its state. */
export const status = (target: Pid | Name, options: Options = {}): Promise<Status> =>
  ask("Sys.status", target, options, (cell) => {
    const shown = cell.behaviour.shown?.(undefined)
    return {
      pid: cell,
      label: cell.label,
      name: cell.name,
      kind: cell.behaviour.kind,
      status: isSuspended(cell) ? "suspended" : "running",
      parent: cell.parent,
      trapExit: cell.trap,
      queueLength: cell.mailbox?.size ?? 0,
      links: cell.links,
      state: shown === undefined ? cell.behaviour.inspect?.() : shown.state,
      statistics: statistics(cell)
    }
  })

/** Counts since the statistics of a process were switched on; times in milliseconds. */
export interface Statistics {
  /** On the system's clock. */
  readonly since: number
  /** Messages put into its mailbox. */
  readonly received: number
  /** Messages and replies it sent in its turns. */
  readonly sent: number
  /** Messages it handled. */
  readonly handled: number
  /** The time it spent on them, in time of the host. */
  readonly busyFor: number
}

/** Switches the statistics of a process on or off; off deletes them. A dead process counts nothing. */
export const setStatistics = (target: Pid | Name, on: boolean): void => {
  const cell = cellAt(target)
  if (cell !== undefined && !cell.dead) watchOf(cell.kernel).count(cell, on)
}

/** The statistics of a process; `undefined` while they are off. */
export const statistics = (target: Pid | Name): Statistics | undefined => {
  const cell = cellAt(target)
  const counts = cell === undefined ? undefined : currentWatch(cell.kernel)?.countsOf(cell)
  return counts === undefined ? undefined : { ...counts }
}

/**
 * Calls a function for each action of a process, until it ends; returns a function that stops the trace.
 *
 * **Contract**
 *
 * `tracer` is called synchronously, must be short and must not act on processes, like a handler of `Telemetry.attach`.
 * A tracer that throws is removed, and its error is reported.
 */
export const trace = (target: Pid | Name, tracer: (event: TraceEvent) => void): (() => void) => {
  const cell = cellAt(target)
  return cell === undefined || cell.dead ? () => {} : watchOf(cell.kernel).trace(cell, tracer)
}

const somebody = (pid: Pid | undefined): string => (pid === undefined ? "no process" : `${pid.label} ${pid}`)

/** Formats a trace event in one line. */
export const formatTrace = (pid: Pid, event: TraceEvent): string => {
  const who = somebody(pid)
  if (event._tag === "Ended") return `${who} ended: ${format(event.reason)}`
  const message = summary(event.message)
  if (event._tag === "Received") return `${who} got ${message} from ${somebody(event.from)}`
  if (event._tag === "Sent") return `${who} sent ${message} to ${somebody(event.to)}`
  return `${who} handled ${message} in ${event.duration.toFixed(1)} ms`
}
