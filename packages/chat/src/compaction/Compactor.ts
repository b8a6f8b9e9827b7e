/** The port of compaction: what a chat asks before a request, and what a compaction is made of. */
import type { AdapterError } from "../errors/index.ts"
import type { Compaction, Message, Thread, Usage } from "../model/index.ts"
import type { Noted } from "./sent.ts"

/** A tool as it counts in a request. */
export interface SizedTool {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
}

/** The request that is about to be sent. */
export interface CompactionSource extends Noted {
  /** The whole thread, with its present compaction. */
  readonly thread: Thread
  /** The messages after the thread that only this request has. */
  readonly aside?: ReadonlyArray<Message> | undefined
  /** The system message of the request. */
  readonly instructions?: string | undefined
  /** The tools of the request. */
  readonly tools: ReadonlyArray<SizedTool>
  /** The call whose question waits for its answer. */
  readonly question?: string | undefined
}

/** Why a compaction is planned; without a field, because a bound is near. */
export interface CompactionCause {
  /** The provider has refused the request as too long. */
  readonly exceeded?: boolean | undefined
  /** A person or the host asked for it: also a request far below the bound becomes smaller. */
  readonly byHand?: boolean | undefined
  /** The request for a summary has failed before in this turn, so that none is made now. */
  readonly failed?: boolean | undefined
}

/** A request for a summary. `model` is absent for the model of the chat. */
interface SummaryRequest {
  readonly instructions: string
  readonly text: string
  readonly maxTokens: number
  readonly model?: string | undefined
}

/** The reply to a request for a summary. */
export interface SummaryReply {
  readonly text: string
  readonly usage: Usage
  readonly model?: string | undefined
}

/**
 * What a chat does before its request.
 *
 * - `nothing`: it sends the request as it is
 * - `compacted`: it stores the compaction first
 * - `ask`: it asks a model for a summary first; `after` continues with the reply, or without one after a failure
 * - `too_large`: no compaction makes the request small enough, and the turn ends with the error
 */
export type CompactionPlan =
  | { readonly type: "nothing" }
  | { readonly type: "compacted"; readonly compaction: Compaction }
  | {
      readonly type: "ask"
      readonly request: SummaryRequest
      readonly after: (reply: SummaryReply | undefined) => CompactionPlan
    }
  | { readonly type: "too_large"; readonly error: AdapterError }

/**
 * Keeps the requests of long threads small; `Compaction.make` makes one.
 *
 * **Contract**: synchronous and pure, apart from what `counted` notes.
 */
export interface Compactor {
  /** The most tokens of a request. */
  readonly maxTokens: number
  /** Whether a request is so large that a compaction must be planned. */
  readonly isDue: (
    data: Pick<CompactionSource, "thread" | "aside" | keyof Noted>,
    options: Pick<CompactionSource, "instructions" | "tools">
  ) => boolean
  /** Plans the compaction of a request. */
  readonly plan: (source: CompactionSource, cause: CompactionCause) => CompactionPlan
  /** Notes how many tokens the provider has counted in the request of this thread. */
  readonly counted: (thread: Thread, inputTokens: number) => void
}
