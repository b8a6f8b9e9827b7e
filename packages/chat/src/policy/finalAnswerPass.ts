/**
 * Structured finalisation: a turn in two passes, the second of which is one request for the answer in its final form.
 *
 * TWO1. The second pass follows only on a first that ended with `completed`, `max_turns` or `halt_when`, and is one step,
 *       without any tool. It does not follow on a first that used up the budget: the turn ends with that.
 * TWO2. A second pass that is refused leaves the first one's result, with `metadata.structuredFinalize.pass2Error`.
 *
 * @source ALLM.Chat, "structured_finalize semantics"
 */
import type { ChatResult } from "../record/index.ts"
import type { RunOptions } from "../options/index.ts"
import * as Thread from "../model/Thread.ts"
import type { Terminal } from "./terminal.ts"

const defaultNudge = "Now provide your final structured response."

const followed: ReadonlySet<string> = new Set(["completed", "max_turns", "halt_when"])

/** Whether a first pass that ends like this is followed by a second. */
export const isFollowed = ({ structuredFinalize }: RunOptions, { reason }: Terminal): boolean =>
  structuredFinalize === true && followed.has(reason)

/** The options of the steps of a pass. */
export const passOptions = (options: RunOptions, firstPass: ChatResult | undefined): RunOptions => {
  if (options.structuredFinalize !== true) return options
  if (firstPass === undefined) return { ...options, responseFormat: undefined }
  return { ...options, tools: [], toolsByName: new Map(), toolChoice: undefined, maxTurns: 1 }
}

/** The thread the second pass begins with. */
export const nudged = (thread: Thread.Thread, { structuredFinalizeNudge = defaultNudge }: RunOptions): Thread.Thread =>
  structuredFinalizeNudge === ""
    ? thread
    : Thread.append(thread, {
        role: "user",
        content: structuredFinalizeNudge,
        metadata: { structured_finalize: true }
      })

/** What a turn in two passes ends with: its result says how the first ended. */
export const finalized = (
  result: ChatResult,
  { structuredFinalize }: RunOptions,
  firstPass: ChatResult | undefined
): ChatResult =>
  structuredFinalize === true
    ? withNote(result, { pass1Halted: firstPass === undefined ? result.haltedReason : firstPass.haltedReason })
    : result

/** What a turn ends with whose second pass was refused (TWO2). */
export const unfinalized = (firstPass: ChatResult, error: unknown): ChatResult =>
  withNote(firstPass, { pass1Halted: firstPass.haltedReason, pass2Error: error })

const withNote = (result: ChatResult, structuredFinalize: Readonly<Record<string, unknown>>): ChatResult => ({
  ...result,
  metadata: { ...result.metadata, structuredFinalize }
})
