/** A system of processes. */

import * as Context from "effect/Context"
import type { Clock } from "../time/index.ts"

/** A set of processes. Made by `make`, ended by `stop`. */
export interface System {
  /** The name in reports and telemetry. */
  readonly name: string
  /** The clock of timers, timeouts and dates. */
  readonly clock: Clock
  /** The seed of the random numbers; `undefined` when they come from the host. */
  readonly seed: number | undefined
}

/** The system as a service of effects: `yield* System.System`. */
export const System: Context.Service<System, System> = Context.Service("@troupe/otp/System")
