/**
 * The interface of a framework for the probes, which a small adapter implements.
 *
 * An adapter starts a root agent with a scripted model and tools, some of which may start other agents. It adds nothing: no timeout,
 * no catch and no retry that the framework does not have by itself.
 *
 * @module
 */
import type { Model } from "./model.ts"

/** A tool of an agent. */
export interface ProbeTool {
  readonly name: string
  /** JSON Schema of its arguments. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Whether running it changes something. */
  readonly effect: "read" | "write"
  /** The question that it asks the user instead of running. */
  readonly asks?: string | undefined
  /** Whether a person must allow each call. */
  readonly isApproved?: boolean
  /** Whether a call returns at once, and the end of its work is reported later. */
  readonly isBackground?: boolean
  readonly run: (args: unknown, call: { readonly id: string; readonly signal: AbortSignal }) => Promise<unknown>
}

/** One agent: its model, its tools, and the names of the agents that it may call with `{ input }`. */
export interface Role {
  readonly model: Model
  readonly tools?: ReadonlyArray<ProbeTool>
  readonly agents?: ReadonlyArray<string>
}

/** The agents of a probe by name; the root is called `boss`. For an absent option the framework's default applies. */
export interface Cast {
  readonly roles: Readonly<Record<string, Role>>
  /** The deadline of a call of an agent, and of a tool, in milliseconds. */
  readonly deadlineMs?: number
  readonly toolTimeoutMs?: number
  /** Whether a failing tool ends the turn. */
  readonly isFatal?: boolean
  /** The tokens that a turn of the root and of all agents below it may use. */
  readonly budget?: number
  /** The time after which an idle root is unloaded, in milliseconds. */
  readonly unloadMs?: number
}

/** How a turn of the root ended. */
export interface Ended {
  readonly reason: string
  readonly text: string
}

/** The events of a turn. */
export type Received =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "outcome"; readonly callId: string; readonly outcome: string }
  | { readonly type: "question"; readonly text: string }
  | { readonly type: "end"; readonly reason: string }
  | { readonly type: "other"; readonly name: string }

/** A turn: its end, or its events, of which iterating reads and `return` leaves. */
export type Turn = Promise<Ended> | (AsyncIterable<Received> & { readonly ended?: () => Promise<Ended> })

/** A running root agent. */
export interface Company {
  readonly send: (input: string) => Turn
  /** Cancels the turn of the root. */
  readonly cancel: () => Promise<void>
  /** Continues a turn that did not end. */
  readonly retry?: () => Turn
  /** Ends the root. */
  readonly stop?: () => Promise<void>
  /** The addresses of the calls that wait for a decision, as the root lists them. */
  readonly waiting?: () => Promise<ReadonlyArray<string>>
  /** Allows such a call, or gives its result, and continues. */
  readonly allow?: (address: string, result?: string) => Turn
  /** Kills the process of the root, or that of its child. Absent when agents have no process of their own. */
  readonly kill?: (which: "root" | "child") => void
  /** What the thread of the root has, as it is stored: inputs and answers. */
  readonly said?: () => Promise<ReadonlyArray<string>>
  /** The number of live agents below the root; absent when the framework cannot list them. */
  readonly alive?: () => number
  /** The number of late completions that the framework reported. */
  readonly lateReports?: () => number
  readonly close: () => Promise<void>
}

/** A framework under test. */
export interface Framework {
  readonly name: string
  /** The module that exports it as `framework`, for the accidents that end a program. */
  readonly module?: string
  /**
   * The effect of a reader that leaves: `"releases"`, everything is released; `"detaches"`, the turn continues without a reader, and
   * no reader slows it.
   */
  readonly leaving?: "releases" | "detaches"
  /** Why a probe cannot be expressed, by its id. */
  readonly cannot: Readonly<Partial<Record<string, string>>>
  /** Starts a root agent over what is kept in the folder; without a folder nothing is kept. */
  readonly start: (cast: Cast, folder?: string) => Promise<Company>
}
