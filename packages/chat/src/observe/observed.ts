/** Processes and turns as plain data. */

/** A living process; `id` is the text of its pid. */
export interface ProcessNode {
  readonly id: string
  readonly label: string
  readonly name?: string | undefined
  readonly kind: string
  readonly status: "idle" | "queued" | "running" | "busy" | "suspended"
  readonly queueLength: number
  /** Bytes, an estimate. */
  readonly memory: number
  readonly restarts?: number | undefined
  /** The chat it belongs to. */
  readonly chat?: string | undefined
  readonly children: ReadonlyArray<ProcessNode>
  /** How many of those it spawned, and below them, are left out here. */
  readonly hidden?: number | undefined
}

/**
 * The tree at a time; times are milliseconds on the system's clock.
 *
 * **Details**: crashes, restarts and dead letters are all there were since the system was made; zombies are those of now.
 */
export interface Observed {
  readonly at: number
  /** All living processes; `tree` may have fewer of them. */
  readonly processes: number
  readonly tree: ReadonlyArray<ProcessNode>
  readonly zombies: number
  readonly crashes: number
  readonly restarts: number
  readonly deadLetters: number
}

/** All there is to see of one process; of one that has ended, what was last seen. */
export interface ProcessDetail extends Omit<ProcessNode, "children" | "hidden"> {
  readonly alive: boolean
  /** Messages it has not taken, the oldest first, and at most 50. */
  readonly mailbox: ReadonlyArray<string>
  readonly state: string
  readonly links: ReadonlyArray<string>
  readonly monitors: ReadonlyArray<string>
  /** Of a machine: which, and the states it is in. */
  readonly chart?: { readonly machine: string; readonly value: unknown } | undefined
  /** Messages it dealt with since somebody looks. */
  readonly handled: number
  /** Milliseconds it held the thread since somebody looks. */
  readonly busyMs: number
  /** What it did last, the newest at the end: `received`, `handled`, `sent`, `ended`. */
  readonly recent: ReadonlyArray<{ readonly at: number; readonly event: string; readonly detail: string }>
}

/**
 * A stretch of time of a turn.
 *
 * - `turn`: all of it; `stream`: a model request; `queue`: a call waits for its turn, five milliseconds or more; `call`: its handler runs; `drain`: it was
 *   told to end and is waited for; `zombie`: it goes on though its call is over
 */
export interface Span {
  readonly id: string
  readonly kind: "turn" | "stream" | "queue" | "call" | "drain" | "zombie"
  readonly label: string
  readonly from: number
  /** `undefined` while it goes on. */
  readonly to: number | undefined
  readonly outcome: string | undefined
}

/** What the newest turns of a chat spent their time on. */
export interface Timeline {
  readonly chat: string
  readonly at: number
  readonly spans: ReadonlyArray<Span>
}
