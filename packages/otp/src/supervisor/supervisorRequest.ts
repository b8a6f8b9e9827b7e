/**
 * Requests to a supervisor, given by its pid or its address.
 *
 * SUPREQ1. A supervisor is found by its pid, a registered name, a key of a registry, or a key of a partition supervisor. Any other
 *          value is refused with `NotASupervisor`.
 * SUPREQ2. A request that changes children is refused with `NotASupervisor` by a supervisor of another kind.
 */
import { type ExitReason, milliseconds, type Name, NotASupervisor, type Pid, type Timeout } from "../core/index.ts"
import { Cell } from "../kernel/index.ts"
import { CallMessage, cellAt, PendingCall } from "../process/index.ts"
import { Server, stopServer } from "../server/index.ts"
import { Supervising } from "./childRestarts.ts"
import { Dynamic } from "./dynamicServer.ts"

const forEver = Number.POSITIVE_INFINITY

const isTarget = (target: unknown): target is Pid | Name =>
  typeof target === "object" && target !== null && (target instanceof Cell || "whereis" in target)

/** The process of a supervisor, living or dead; `undefined` when its address has none. Throws `NotASupervisor`. */
export const supervisorAt = (target: Pid | Name): Cell | undefined => {
  const cell = isTarget(target) ? cellAt(target) : undefined
  const isOther = cell === undefined ? !isTarget(target) : cell.behaviour.kind !== "supervisor"
  if (isOther) throw new NotASupervisor({ pid: cell ?? (target as Pid) })
  return cell
}

const kinds = { Supervisor: Supervising, DynamicSupervisor: Dynamic }

/** Refuses a supervisor of the other kind (SUPREQ2). */
const refuseOther = (cell: Cell | undefined, required: keyof typeof kinds): void => {
  const kind = required === "Supervisor" ? "DynamicSupervisor" : "Supervisor"
  const isOther = cell?.behaviour instanceof Server && cell.behaviour.state instanceof kinds[kind]
  if (cell !== undefined && isOther) throw new NotASupervisor({ pid: cell, kind, required })
}

/**
 * Sends a request, which waits without a timeout; rejects with the error in the reply, with `CallExit`, or with `NotASupervisor`. A
 * request that changes children names the kind of supervisor that it requires.
 */
export const request = <A>(supervisor: Pid | Name, message: unknown, required?: keyof typeof kinds): Promise<A> =>
  new Promise((resolve, reject) => {
    const server = supervisorAt(supervisor)
    if (required !== undefined) refuseOther(server, required)
    const answered = (value: unknown): void => {
      const outcome = value as { readonly ok: A } | { readonly error: Error }
      if ("error" in outcome) reject(outcome.error)
      else resolve(outcome.ok)
    }
    const route = { server, caller: server?.kernel.current, ms: forEver, in: "Supervisor.call" }
    const pending = new PendingCall(route, answered, reject)
    pending.begin(new CallMessage(message, pending))
  })

/** Ends a supervisor and its children; resolves when all are dead. Rejects like `GenServer.stop`, or with `NotASupervisor`. */
export const stopSupervisor = async (
  supervisor: Pid | Name,
  reason: ExitReason,
  timeout: Timeout,
  where: string
): Promise<void> => stopServer(supervisorAt(supervisor), reason, milliseconds(timeout), where)
