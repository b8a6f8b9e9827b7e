/** The interface of a place where an isolated call runs. */

import type { ToPlace } from "./job.ts"

/** The callbacks of a place. */
export interface PlaceListener {
  /** Called with each message of the place. */
  readonly received: (message: unknown) => void
  /** Called when the place is gone, with the reason. */
  readonly ended: (reason: string) => void
}

export interface PlaceLimits {
  readonly env: Readonly<Record<string, string>>
  readonly maxMemoryMb: number
  /** The largest message that the place may send, in bytes. */
  readonly maxMessageBytes: number
}

/** A running place. */
export interface Place {
  /** Throws when the message cannot be sent there. */
  readonly send: (message: ToPlace) => void
  readonly kill: () => void
}
