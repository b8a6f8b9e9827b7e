/**
 * Structured finalisation: a turn in two passes, the second of which is one request for the answer in its final form.
 *
 * TWO1. The second pass follows only a first pass that ended with `completed`, `max_turns` or `halt_when`. It is one step
 *       without tools. If the first pass used up the budget, the turn ends with that instead.
 * TWO2. When the second pass is refused, the turn has the first pass's result, with
 *       `metadata.structuredFinalize.pass2Error`.
 *
 * @source ALLM.Chat, "structured_finalize semantics"
 */
import type { ChatResult } from "../record/index.ts"
import type { RunOptions } from "../options/index.ts"
import * as Thread from "../model/Thread.ts"
import type { Terminal } from "./terminal.ts"

const defaultNudge = "Now provide your final structured response."

const followed: ReadonlySet<string> = new Set(["completed", "max_turns", "halt_when"])

/** Whether a second pass follows a first pass that ended for this reason, in a turn of two passes. */
export const isFollowed = ({ reason }: Terminal): boolean => followed.has(reason)

/** The options that differ between the two passes. */
type PassOptions = Pick<
  RunOptions,
  "structuredFinalize" | "responseFormat" | "tools" | "toolsByName" | "toolChoice" | "maxTurns"
>

/** The options of the steps of a pass. */
export const passOptions = <Options extends PassOptions>(options: Options, isSecond: boolean): Options => {
  if (options.structuredFinalize !== true) return options
  if (!isSecond) return { ...options, responseFormat: undefined }
  return { ...options, tools: [], toolsByName: new Map(), toolChoice: undefined, maxTurns: 1 }
}

/** The thread at the beginning of the second pass. */
export const nudged = (thread: Thread.Thread, nudge = defaultNudge): Thread.Thread =>
  nudge === ""
    ? thread
    : Thread.append(thread, { role: "user", content: nudge, metadata: { structured_finalize: true } })

/** The result of a turn in two passes, with the reason that ended the first. */
export const finalized = (result: ChatResult, firstPass: ChatResult | undefined): ChatResult =>
  withNote(result, { pass1Halted: firstPass === undefined ? result.haltedReason : firstPass.haltedReason })

/** The result of a turn whose second pass was refused (TWO2). */
export const unfinalized = (firstPass: ChatResult, error: unknown): ChatResult =>
  withNote(firstPass, { pass1Halted: firstPass.haltedReason, pass2Error: error })

const withNote = (result: ChatResult, structuredFinalize: Readonly<Record<string, unknown>>): ChatResult => ({
  ...result,
  metadata: { ...result.metadata, structuredFinalize }
})
