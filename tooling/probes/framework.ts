/**
 * What a framework must be able to do to be probed: a small adapter says how.
 *
 * An adapter starts a conversation with a scripted model and some tools, and says what it hears in the words below. It adds
 * nothing: no timeout, no catch, no retry that the framework would not have by itself.
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
  /** The question it asks the user instead of running. */
  readonly asks?: string | undefined
  readonly run: (args: unknown, call: { readonly id: string; readonly signal: AbortSignal }) => Promise<unknown>
}

/** What a conversation is started with. What is absent is left to the framework. */
export interface Setup {
  readonly model: ScriptedModel
  readonly tools: ReadonlyArray<ProbeTool>
  /** The deadline of a tool call, in milliseconds. */
  readonly toolTimeoutMs?: number | undefined
  /** A tool that fails ends the conversation's turn. */
  readonly fatal?: boolean | undefined
}

/** What is heard while a turn runs. */
export type Heard =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "outcome"; readonly callId: string; readonly outcome: string }
  | { readonly type: "question"; readonly text: string }
  | { readonly type: "end"; readonly reason: string }
  | { readonly type: "other"; readonly name: string }

/** A conversation that runs. */
export interface Conversation {
  /** Says something; reading is hearing what comes of it, `return` is leaving. */
  readonly send: (text: string) => AsyncIterable<Heard>
  /** Stops the running turn. */
  readonly cancel: () => Promise<void>
  /** Late completions the framework has told of. */
  readonly lateReports: () => number
  /**
   * The program dies: gives the conversation as the next program finds it, with what had been kept by now. Absent where
   * nothing is kept.
   */
  readonly restart?: (() => Promise<Restarted>) | undefined
  readonly close: () => Promise<void>
}

/** A conversation in another program's life. */
export interface Restarted extends Conversation {
  /** The calls of which nobody knows whether they took effect, by their ids. */
  readonly unknown: () => ReadonlyArray<string>
  /** Says what came of such a call, and goes on. */
  readonly decide: (callId: string, result: string) => AsyncIterable<Heard>
}

/** A framework, as the probes see it. */
export interface Framework {
  readonly name: string
  /**
   * What a reader who leaves means: `"releases"`, all is given back; `"detaches"`, the turn goes on without a reader, and
   * no reader slows it.
   */
  readonly leaving: "releases" | "detaches"
  /** Whether a conversation outlives its program: it has `restart`. */
  readonly durable: boolean
  readonly start: (setup: Setup) => Promise<Conversation>
}
