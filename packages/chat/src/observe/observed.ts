/** Processes and turns as plain data. */

/** A running process; `id` is the text of its pid. */
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
  /** How many of its descendants are left out here. */
  readonly hidden?: number | undefined
}

/**
 * The process tree at one time; times are milliseconds on the system's clock.
 *
 * **Details**: crashes, restarts and dead letters are counted since the system was made; zombies are those of now. Behind a
 * server of a cluster, `node` is the address of the node whose processes these are.
 */
export interface Observed {
  readonly node?: string | undefined
  readonly at: number
  /** The number of running processes; `tree` may have fewer. */
  readonly processes: number
  readonly tree: ReadonlyArray<ProcessNode>
  readonly zombies: number
  readonly crashes: number
  readonly restarts: number
  readonly deadLetters: number
}

/** The details of one process; of an ended process, the last ones that were seen. */
export interface ProcessDetail extends Omit<ProcessNode, "children" | "hidden"> {
  readonly alive: boolean
  /** The first messages of its mailbox, the oldest first, at most 50. */
  readonly mailbox: ReadonlyArray<string>
  readonly state: string
  readonly links: ReadonlyArray<string>
  readonly monitors: ReadonlyArray<string>
  /** The machine of the process and its states, if it runs one. */
  readonly chart?: { readonly machine: string; readonly value: unknown } | undefined
  /** How many messages it handled since it is observed. */
  readonly handled: number
  /** How many milliseconds it blocked the thread since it is observed. */
  readonly busyMs: number
  /** Its last events, the newest at the end: `received`, `handled`, `sent`, `ended`. */
  readonly recent: ReadonlyArray<{ readonly at: number; readonly event: string; readonly detail: string }>
}

/**
 * A time span of a turn.
 *
 * - `turn`: the whole turn; `stream`: a model request; `delay`: the request waits more than a second before it is sent again, with the
 *   reason of its last failure as its outcome; `queue`: a call is queued for five milliseconds or more; `call`: its
 *   handler runs; `drain`: it was cancelled and may still end in time; `zombie`: its handler still runs after the call
 *   ended
 * - `under`: the row of the call that the span's chat works for, if it is the chat of a sub-agent. A row is the part of the
 *   spans' ids before their kind
 */
export interface Span {
  readonly id: string
  readonly kind: "turn" | "stream" | "delay" | "queue" | "call" | "drain" | "zombie"
  readonly label: string
  readonly under?: string | undefined
  readonly from: number
  /** `undefined` while the span is open. */
  readonly to: number | undefined
  readonly outcome: string | undefined
}

/** The time spans of the newest turns of a chat. */
export interface Timeline {
  readonly chat: string
  readonly at: number
  readonly spans: ReadonlyArray<Span>
}
