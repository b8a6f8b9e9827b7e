/** Processes and turns as plain data. */

/** A running process. */
export interface ProcessNode {
  /** The text of its pid. */
  readonly id: string
  /** Its displayed name. */
  readonly label: string
  /** Its registered name. */
  readonly name?: string | undefined
  /**
   * `process`, `task`, `machine`, `actor` for another actor below a machine, `server`, `supervisor`, `registry`, `application`.
   */
  readonly kind: string
  /** `running` in its turn, `queued` before it, `busy` with a promise or an effect, `suspended` by `Sys`, else `idle`. */
  readonly status: "idle" | "queued" | "running" | "busy" | "suspended"
  /** The number of unread messages. */
  readonly queueLength: number
  /** Bytes, an estimate. */
  readonly memory: number
  /** The number of its restarts by a supervisor. */
  readonly restarts?: number | undefined
  /** The chat it belongs to. */
  readonly chat?: string | undefined
  /** The newest five messages that other agents sent the chat whose process it is, the oldest first. */
  readonly agentMessages?: ReadonlyArray<AgentMessage> | undefined
  /** The processes that it started. */
  readonly children: ReadonlyArray<ProcessNode>
  /** How many of its descendants are left out here. */
  readonly hidden?: number | undefined
}

/** What one agent sent another. */
interface AgentMessage {
  /** The chat of the agent that sent it. */
  readonly from: string
  /** `tell` or `ask`. */
  readonly kind: string
  /** Its beginning. */
  readonly text: string
}

/** The process tree at one time. */
export interface Observed {
  /** Behind a server of a cluster, the address of the node whose processes these are. */
  readonly node?: string | undefined
  /** The time, in milliseconds on the system's clock. */
  readonly at: number
  /** The number of running processes; `tree` may have fewer. */
  readonly processes: number
  /** The processes without a parent, with those below them. */
  readonly tree: ReadonlyArray<ProcessNode>
  /** The handlers that outlived their calls, at this time. */
  readonly zombies: number
  /** The crashes since the system was made. */
  readonly crashes: number
  /** The restarts since the system was made. */
  readonly restarts: number
  /** The messages without a receiver since the system was made. */
  readonly deadLetters: number
}

/** The details of one process; of an ended process, the last ones that were seen. */
export interface ProcessDetail extends Omit<ProcessNode, "children" | "hidden"> {
  /** Whether the process runs. */
  readonly alive: boolean
  /** The first messages of its mailbox, the oldest first, at most 50. */
  readonly mailbox: ReadonlyArray<string>
  /** Its state, as a text. */
  readonly state: string
  /** The pids of the processes that are linked to it. */
  readonly links: ReadonlyArray<string>
  /** The pids of the processes that it monitors. */
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

/** A time span of a turn. Times are milliseconds on the system's clock. */
export interface Span {
  /** The text of the span, in which its row precedes its kind. */
  readonly id: string
  /**
   * `turn`: the whole turn; `stream`: a model request; `delay`: the request waits more than a second before it is sent again,
   * with the reason of its last failure as its outcome; `queue`: a call is queued for five milliseconds or more; `call`: its
   * handler runs; `drain`: it was cancelled and may still end in time; `zombie`: its handler still runs after the call ended.
   */
  readonly kind: "turn" | "stream" | "delay" | "queue" | "call" | "drain" | "zombie"
  /** The name of the adapter, of the tool, or of the turn. */
  readonly label: string
  /** The main argument of the call, in one line of at most 80 characters, if it has one. */
  readonly about?: string
  /**
   * The row of the call that the span's chat works for, if it is the chat of a sub-agent. A row is the part of the spans' ids
   * before their kind.
   */
  readonly under?: string | undefined
  /** The time when it began. */
  readonly from: number
  /** `undefined` while the span is open. */
  readonly to: number | undefined
  /** How it ended; `undefined` while it is open. */
  readonly outcome: string | undefined
}

/** The time spans of the newest turns of a chat. */
export interface Timeline {
  /** The id of the chat. */
  readonly chat: string
  /** The time, in milliseconds on the system's clock. */
  readonly at: number
  /** The spans of the turns. */
  readonly spans: ReadonlyArray<Span>
}
