/**
 * Deletes expired conversations.
 *
 * STORE8. When conversations have a time to live, expired ones are deleted every minute, except those that are live or have
 *         background tasks here, and those whose home is another program.
 *         After a failure the next minute tries again.
 */
import { type Pid, Process, type System } from "@troupe/otp"
import { inBackground } from "../async/index.ts"
import type { SessionStore } from "./sessionStore.ts"

/** The message of the store's process to itself that a minute is over. */
export interface Sweep {
  readonly sweep: true
}

/** The part of a guarded store that a sweep needs. */
interface Swept {
  readonly system: System.System
  readonly log: SessionStore | undefined
  /** Whether a conversation does not expire now: it is live here, or its home is another program. */
  readonly isKept: (id: string) => boolean
  readonly guard: Pid<Sweep> | undefined
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

/** Deletes the expired conversations; calls `failed` when the store fails. */
export const sweep = ({ log, guard, isKept, system }: Swept, failed: (error: unknown) => void): void => {
  if (guard === undefined || log === undefined) return
  awaitSweep(guard, system)
  try {
    Promise.resolve(log.expire(isKept)).catch(failed)
  } catch (error) {
    failed(error)
  }
}
