/** A system of processes. */

import * as Context from "effect/Context"
import type { Clock } from "../time/index.ts"

/** A set of processes. Made by `make`, ended by `stop`. */
export interface System {
  readonly name: string
  readonly clock: Clock
  /** What it was made with; `undefined` where chance is the host's. */
  readonly seed: number | undefined
}

/** The system as a service of effects: `yield* System.System`. */
export const System: Context.Service<System, System> = Context.Service("@troupe/otp/System")
