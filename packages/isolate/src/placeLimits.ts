/** The interface of a place where an isolated call runs. */

import type { ToPlace } from "./job.ts"

/** The callbacks of a place. */
export interface PlaceListener {
  /** It sent this. */
  readonly received: (message: unknown) => void
  /** It is gone, for this reason. */
  readonly ended: (reason: string) => void
}

/** What a place may use. */
export interface PlaceLimits {
  readonly env: Readonly<Record<string, string>>
  readonly maxMemoryMb: number
  /** The largest message it may send, in bytes. */
  readonly maxMessageBytes: number
}

/** A running place. */
export interface Place {
  /** Throws when the message cannot be sent there. */
  readonly send: (message: ToPlace) => void
  readonly kill: () => void
}
