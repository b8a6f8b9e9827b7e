/**
 * The start of a server: name, process, `init`, result for the starter.
 *
 * START1. If the name is taken, no process is made and `init` does not run.
 * START2. The starter is notified once: that the server is up, or of the reason why not.
 * START3. A server that is up is found under its address. If its registry refuses it, it does not start.
 * START4. A start that times out ends only the server: its parent is unlinked first.
 */
import * as Effect from "effect/Effect"
import {
  AlreadyStarted,
  milliseconds,
  type Name,
  type Pid,
  StartFailed,
  type StartIgnored,
  SystemStopped,
  type Timeout
} from "../core/index.ts"
import { register, unlink } from "../process/index.ts"
import { afterTurn } from "../time/index.ts"
import { type Cell, die, join, type Kernel, signal, startTimer, turn, wake } from "../kernel/index.ts"
import { Server } from "./serverLoop.ts"
import type { Callbacks, Starter } from "./serverLoop.ts"

/** A name that a process can take: a key in a registry. */
export interface Via<out P extends Pid = Pid> extends Name<never, P> {
  /** Gives the name to a process; returns the process that has it. */
  claim(pid: Pid): Pid
}

/** The names of a server and the options of its start. */
export interface ServerOptions {
  /** Registers the server in its system. Default: the server has no name. */
  readonly name?: string
  /** Registers the server in a registry. Default: in none. */
  readonly via?: Via
  /** The displayed name. Default: that of the definition, else the name. */
  readonly label?: string | undefined
  /** How long `init` may take. Default: without a limit. */
  readonly timeout?: Timeout
  /** Whether exit signals become messages, from before `init` on. Default: false. */
  readonly trapExit?: boolean
}

const none: ServerOptions = {}

/** The parts of a kernel that a new server is registered in. */
type ServerKernel = Pick<Kernel, "names" | "make" | "current">

const makeServer = (
  kernel: ServerKernel,
  parent: Cell | undefined,
  callbacks: Callbacks,
  args: unknown,
  options: ServerOptions,
  starter: Starter
): Cell => {
  const holder = options.name === undefined ? options.via?.whereis() : kernel.names.get(options.name)
  if (holder !== undefined) throw new StartFailed({ reason: new AlreadyStarted({ pid: holder }) })
  const label = options.label ?? callbacks.label ?? options.name ?? options.via?.name ?? "GenServer"
  const server = new Server(callbacks, args, parent, starter)
  const cell = kernel.make(server, parent ?? kernel.current, label)
  cell.trap = options.trapExit === true
  if (options.name !== undefined) register(options.name, cell)
  if (options.via !== undefined) enter(options.via, cell)
  if (parent?.dead === true) die(cell, "noproc", "signal")
  else if (parent !== undefined && !cell.dead) join(parent, cell)
  return cell
}

/** Registers a process under its address; if that fails, ends the process. */
const enter = (via: Via, cell: Cell): void => {
  try {
    const holder = via.claim(cell)
    if (holder !== cell) die(cell, new AlreadyStarted({ pid: holder }), "signal")
  } catch (error) {
    die(cell, error, "signal")
  }
}

const beginServer = (
  kernel: Kernel,
  parent: Cell | undefined,
  callbacks: Callbacks,
  args: unknown,
  options: ServerOptions,
  starter: Starter
): Cell => {
  const ms = milliseconds(options.timeout ?? "infinity")
  const cell = makeServer(kernel, parent, callbacks, args, options, starter)
  wake(cell)
  if (options.timeout === undefined || cell.dead) return cell
  const { started, failed } = starter
  const timer = startTimer(kernel, cell, ms, () => {
    failed(new StartFailed({ reason: "timeout" }))
    if (parent !== undefined) unlink(parent, cell)
    signal(kernel.root, cell, "kill", "direct")
  })
  starter.started = (up) => {
    timer?.close()
    started(up)
  }
  return cell
}

/** Starts a server; resolves when it is up. */
export const startServer = (
  kernel: Kernel,
  parent: Cell | undefined,
  callbacks: Callbacks,
  args: unknown,
  options: ServerOptions = none
): Promise<Cell> =>
  new Promise((resolve, reject) => {
    beginServer(kernel, parent, callbacks, args, options, { started: resolve, failed: reject })
  })

/** Starts a server; interrupting the start kills it. */
export const startServerEffect = (
  kernel: Kernel,
  callbacks: Callbacks,
  args: unknown,
  options: ServerOptions = none
): Effect.Effect<Cell, StartFailed | StartIgnored | SystemStopped> =>
  Effect.callback((resume) => {
    const started = (up: Cell): void => afterTurn(() => resume(Effect.succeed(up)))
    const failed = (error: StartFailed | StartIgnored): void => afterTurn(() => resume(Effect.fail(error)))
    let cell: Cell
    try {
      cell = beginServer(kernel, undefined, callbacks, args, options, { started, failed })
    } catch (error) {
      const expected = error instanceof StartFailed || error instanceof SystemStopped
      return resume(expected ? Effect.fail(error) : Effect.die(error))
    }
    return Effect.sync(() => signal(kernel.root, cell, "kill", "direct"))
  })

/** Starts a server whose `init` returns synchronously. */
export const launchServer = (
  kernel: ServerKernel,
  parent: Cell,
  callbacks: Callbacks,
  args: unknown,
  options: ServerOptions = none
): Cell => {
  let state: "waiting" | "up" | StartFailed | StartIgnored = "waiting"
  const starter: Starter = { started: () => (state = "up"), failed: (error) => (state = error) }
  const cell = makeServer(kernel, parent, callbacks, args, options, starter)
  turn(cell)
  const outcome = state as "waiting" | "up" | StartFailed | StartIgnored
  if (outcome === "up") return cell
  if (outcome !== "waiting") throw outcome
  const reason = new Error("init answered with a promise or an effect that waits: use startLink")
  die(cell, reason, "own")
  throw new StartFailed({ reason })
}
