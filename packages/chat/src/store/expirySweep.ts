/**
 * Deletes expired conversations.
 *
 * STORE8. When conversations have a time to live, expired ones are deleted every minute, except those that are live or have
 *         background tasks here, and those whose home is another program.
 *         After a failure the next minute tries again.
 */
import { type Pid, Process, type System } from "@troupe/otp"
import { inBackground } from "../async/index.ts"

/** The message of the store's process to itself that a minute is over. */
export interface Sweep {
  readonly sweep: true
}

const sweepEveryMs = 60_000

/** The timer of a sweep does not keep the program alive. */
export const awaitSweep = (guard: Pid<Sweep>, { clock }: System.System): void => {
  const due = (): void => {
    forget()
    Process.send(guard, { sweep: true })
  }
  const timer = inBackground(clock, due, sweepEveryMs)
  const forget = Process.onExit(guard, () => clock.clearTimeout(timer))
}

/** Deletes the expired conversations with `expire`, and awaits the next minute; calls `failed` when the store fails. */
export const sweep = (
  guard: Pid<Sweep>,
  system: System.System,
  expire: () => unknown,
  failed: (error: unknown) => void
): void => {
  awaitSweep(guard, system)
  try {
    Promise.resolve(expire()).catch(failed)
  } catch (error) {
    failed(error)
  }
}
