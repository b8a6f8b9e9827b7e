/**
 * The interface of a framework for the probes, which a small adapter implements.
 *
 * An adapter starts a conversation with a scripted model and some tools, and maps its events to the tags below. It adds
 * nothing: no timeout, no catch, no retry that the framework does not have by itself.
 *
 * @module
 */
import type { ScriptedModel } from "./scriptedModel.ts"

/** A tool of a probe. */
export interface ProbeTool {
  readonly name: string
  /** JSON Schema of its arguments. */
  readonly schema: Readonly<Record<string, unknown>>
  /** Whether running it changes something. */
  readonly effect: "read" | "write"
  /** The question that it asks the user instead of running. */
  readonly asks?: string | undefined
  readonly run: (args: unknown, call: { readonly id: string; readonly signal: AbortSignal }) => Promise<unknown>
}

/** The options of a conversation. For an absent one the framework's default applies. */
export interface Setup {
  readonly model: ScriptedModel
  readonly tools: ReadonlyArray<ProbeTool>
  /** The deadline of a tool call, in milliseconds. */
  readonly toolTimeoutMs?: number | undefined
  /** Whether a failing tool ends the conversation's turn. */
  readonly fatal?: boolean | undefined
}

/** The events of a turn. */
export type Received =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "outcome"; readonly callId: string; readonly outcome: string }
  | { readonly type: "question"; readonly text: string }
  | { readonly type: "end"; readonly reason: string }
  | { readonly type: "other"; readonly name: string }

/** A running conversation. */
export interface Conversation {
  /** Sends a message; iterating reads its events, `return` leaves. */
  readonly send: (text: string) => AsyncIterable<Received>
  /** Stops the running turn. */
  readonly cancel: () => Promise<void>
  /** The number of late completions that the framework reported. */
  readonly lateReports: () => number
  /**
   * Simulates the end of the program: returns the conversation as the next program loads it from the store. Absent when
   * nothing is stored.
   */
  readonly restart?: (() => Promise<Restarted>) | undefined
  readonly close: () => Promise<void>
}

/** A conversation after a restart of its program. */
export interface Restarted extends Conversation {
  /** The ids of the calls whose effect is unknown. */
  readonly unknown: () => ReadonlyArray<string>
  /** Gives the result of such a call, and continues. */
  readonly decide: (callId: string, result: string) => AsyncIterable<Received>
}

/** A framework under test. */
export interface Framework {
  readonly name: string
  /**
   * The effect of a reader that leaves: `"releases"`, everything is released; `"detaches"`, the turn continues without a
   * reader, and no reader slows it.
   */
  readonly leaving: "releases" | "detaches"
  /** Whether a conversation survives its program: it has `restart`. */
  readonly durable: boolean
  readonly start: (setup: Setup) => Promise<Conversation>
}
