/** A request to a supervisor, which waits without a timeout. */
import { NotASupervisor, type Pid } from "../core/index.ts"
import { cellOf } from "../kernel/index.ts"
import { CallMessage, PendingCall } from "../process/index.ts"

const forEver = Number.POSITIVE_INFINITY

/** Sends a request; rejects with the error in the reply, with `CallExit`, or with `NotASupervisor`. */
export const request = <A>(supervisor: Pid, message: unknown): Promise<A> =>
  new Promise((resolve, reject) => {
    const server = cellOf(supervisor)
    if (server.behaviour.kind !== "supervisor") return reject(new NotASupervisor({ pid: supervisor }))
    const answered = (value: unknown): void => {
      const outcome = value as { readonly ok: A } | { readonly error: Error }
      if ("error" in outcome) reject(outcome.error)
      else resolve(outcome.ok)
    }
    const route = { server, caller: server.kernel.current, ms: forEver, in: "Supervisor.call" }
    const pending = new PendingCall(route, { answered, failed: reject })
    pending.begin(new CallMessage(message, pending))
  })
