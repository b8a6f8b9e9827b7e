/**
 * A look into one living process, and a hand on it.
 *
 * For servers, machines and supervisors: read and replace the state, suspend and resume, see the status; for every
 * process: trace its messages and count them. For people who debug, and for tools; a program asks a process by messages
 * of its own.
 *
 * **Details**
 *
 * A request is taken in mailbox order, like a message, but no callback sees it; a suspended process takes requests at
 * once.
 *
 * **Errors**
 *
 * A request rejects with `CallExit`, as a call does: `timeout`, `noproc`, `calling_self` or the reason the process ended
 * with; and with `NoSystemMessages` if the process is none that takes requests.
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

/** How long a request waits for a process that is busy: 5 seconds by default. */
export interface Options {
  readonly timeout?: Timeout
}

const ask = <A>(where: string, target: Pid | Name, options: Options, act: (cell: Cell) => A): Promise<A> =>
  new Promise((resolve, reject) => {
    const server = cellAt(target)
    if (server !== undefined && !server.dead && server.behaviour.handle === undefined) {
      return reject(new NoSystemMessages({ pid: server }))
    }
    const route = { server, caller: server?.kernel.current, ms: milliseconds(options.timeout ?? 5000), in: where }
    const pending = new PendingCall(route, { answered: (answer) => (answer as () => void)(), failed: reject })
    pending.begin(new SysMessage(() => pending.answer(answerOf(server, act, resolve, reject))))
  })

/** Does what was asked in the turn of the process; what it throws is the asker's and not the process's. */
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
 * Reads the state: of a server what its callbacks keep, of a machine its snapshot, of a supervisor its rules and its
 * children.
 */
export const getState = <S = unknown>(target: Pid | Name, options: Options = {}): Promise<S> =>
  ask("Sys.getState", target, options, (cell) => cell.behaviour.inspect?.() as S)

/**
 * Replaces the state of a server or the snapshot of a machine; resolves with the new one.
 *
 * **Contract**
 *
 * `change` runs in the turn of the process and answers at once. What it throws is what this rejects with; the state
 * stays.
 *
 * **Errors**
 *
 * Rejects with `StateFixed` where the state is not the user's: of supervisors and registries.
 *
 * **Gotchas**
 *
 * A machine enters and leaves no states by this, and starts and stops no actors: change its `context`.
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
 * Suspends a process: its mail waits until `resume`.
 *
 * **Details**
 *
 * It is suspended once it is done with the messages before, and takes requests, the request to stop, exit signals and
 * the end of its parent as ever. Suspending twice is suspending once.
 */
export const suspend = (target: Pid | Name, options: Options = {}): Promise<void> =>
  ask("Sys.suspend", target, options, suspendCell)

/** Lets a suspended process go on with its mail. One that is not suspended goes on as it was. */
export const resume = (target: Pid | Name, options: Options = {}): Promise<void> =>
  ask("Sys.resume", target, options, resumeCell)

/** What a process is, as it says itself. */
export interface Status {
  readonly pid: Pid
  readonly label: string
  readonly name: string | undefined
  readonly kind: string
  readonly status: "running" | "suspended"
  readonly parent: Pid | undefined
  readonly trapExit: boolean
  readonly queueLength: number
  readonly links: ReadonlyArray<Pid>
  readonly state: unknown
  readonly statistics: Statistics | undefined
}

/** Asks a process for its status, its state among it. */
export const status = (target: Pid | Name, options: Options = {}): Promise<Status> =>
  ask("Sys.status", target, options, (cell) => ({
    pid: cell,
    label: cell.label,
    name: cell.name,
    kind: cell.behaviour.kind,
    status: isSuspended(cell) ? "suspended" : "running",
    parent: cell.parent,
    trapExit: cell.trap,
    queueLength: cell.mailbox?.size ?? 0,
    links: cell.links?.all ?? [],
    state: cell.behaviour.inspect?.(),
    statistics: statistics(cell)
  }))

/** What a process did since its statistics were switched on; times in milliseconds. */
export interface Statistics {
  /** On the system's clock. */
  readonly since: number
  /** Messages put into its mailbox. */
  readonly received: number
  /** Messages and replies it sent in its turns. */
  readonly sent: number
  /** Messages it dealt with. */
  readonly handled: number
  /** How long it was at them, in time of the host. */
  readonly busyFor: number
}

/** Switches the statistics of a process on or off; off forgets them. Nothing is counted in a dead process. */
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
 * Has a function called with what a process does; answers how to stop it. It ends with the process.
 *
 * **Contract**
 *
 * As a handler of `Telemetry.attach`, `tracer` is called at the moment itself, must be short and must not act on
 * processes. One that throws is dropped, and its error reported.
 */
export const trace = (target: Pid | Name, tracer: (event: TraceEvent) => void): (() => void) => {
  const cell = cellAt(target)
  return cell === undefined || cell.dead ? () => {} : watchOf(cell.kernel).trace(cell, tracer)
}

const somebody = (pid: Pid | undefined): string => (pid === undefined ? "no process" : `${pid.label} ${pid}`)

/** Shows what a traced process does, in one line. */
export const formatTrace = (pid: Pid, event: TraceEvent): string => {
  const who = somebody(pid)
  if (event._tag === "Ended") return `${who} ended: ${format(event.reason)}`
  const message = summary(event.message)
  if (event._tag === "Received") return `${who} got ${message} from ${somebody(event.from)}`
  if (event._tag === "Sent") return `${who} sent ${message} to ${somebody(event.to)}`
  return `${who} handled ${message} in ${event.duration.toFixed(1)} ms`
}
