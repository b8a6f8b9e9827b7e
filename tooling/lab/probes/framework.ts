/**
 * The interface of a framework for the probes, which a small adapter implements.
 *
 * An adapter starts a root agent with a scripted model and tools, some of which may start other agents. It adds nothing: no timeout,
 * no catch and no retry that the framework does not have by itself.
 *
 * @module
 */
import type { Model } from "./model.ts"

/** A tool of an agent, without arguments. */
export interface ProbeTool {
  readonly name: string
  /** Whether a person must allow each call. */
  readonly isApproved?: boolean
  /** Whether a call returns at once, and the end of its work is reported later. */
  readonly isBackground?: boolean
  /** Whether a call may run again: it changes nothing. */
  readonly isRead?: boolean
  readonly run: (signal?: AbortSignal) => Promise<string>
}

/** One agent: its model, its tools, and the names of the agents that it may call with `{ input }`. */
export interface Role {
  readonly model: Model
  readonly tools?: ReadonlyArray<ProbeTool>
  readonly agents?: ReadonlyArray<string>
  /** Whether its agents work in the background, and whether it has the tools `tell` and `ask` for them and for its caller. */
  readonly isBackground?: boolean
  readonly sendsMail?: boolean
}

/** The agents of a probe by name; the root is called `boss`. For an absent option the framework's default applies. */
export interface Cast {
  readonly roles: Readonly<Record<string, Role>>
  /** The deadline of a call of an agent, in milliseconds. */
  readonly deadlineMs?: number
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

/** A running root agent. */
export interface Company {
  readonly send: (input: string) => Promise<Ended>
  /** Cancels the turn of the root. */
  readonly cancel: () => Promise<void>
  /** Continues a turn that did not end. */
  readonly retry?: () => Promise<Ended>
  /** Ends the root. Absent when it has no process of its own, and ends with its turn. */
  readonly stop?: () => Promise<void>
  /** The addresses of the calls that wait for a decision, as the root lists them. */
  readonly waiting?: () => Promise<ReadonlyArray<string>>
  /** Allows such a call, and continues. */
  readonly allow?: (address: string) => Promise<Ended>
  /** Kills the process of the root, or that of its child. Absent when agents have no process of their own. */
  readonly kill?: (which: "root" | "child") => void
  /** What the thread of the root has, as it is stored: inputs and answers. */
  readonly said?: () => Promise<ReadonlyArray<string>>
  /** The texts in the threads of the agents below the root. */
  readonly read?: () => Promise<ReadonlyArray<string>>
  /** Takes back all turns of the root but the first. */
  readonly rewind?: () => Promise<void>
  /** The number of live agents below the root; absent when the framework cannot list them. */
  readonly alive?: () => number
  readonly close: () => Promise<void>
}

/** A framework under test. */
export interface Framework {
  readonly name: string
  /** The module that exports it as `framework`, for the accidents that end a program. */
  readonly module?: string
  /** Why an accident cannot be expressed, by its id. */
  readonly cannot: Readonly<Partial<Record<string, string>>>
  /** Starts a root agent over what is kept in the folder. */
  readonly start: (cast: Cast, folder: string) => Promise<Company>
}
