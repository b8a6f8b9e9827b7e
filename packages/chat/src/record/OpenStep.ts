/** A stored step that is not over. */

import * as z from "zod"
import { ChildWait, Decision } from "./Approval.ts"
import { StepHalt } from "./StepResult.ts"
import { openRecord } from "../values/index.ts"

/** Why a call waits: for itself, or because its sub-agent or its handler asks. */
const CallWait = z.enum(["permission", "unknown_outcome", "subagent"])

/**
 * The state of one call of an open step.
 *
 * - `new`: it has not begun, or only reads
 * - `intended`: it writes, and may have run
 * - `waiting`: it waits for a person's decision
 * - `decided`: the decision is applied when the turn continues
 * - `manual`: the caller answers it
 * - `done`: its result is in the thread
 *
 * `arguments` are those that a person gave in place of the model's, of a call that ran with them. It runs again with them.
 *
 * A call of the kind `subagent` has the waits of its child, or the questions of its handler, and is `decided` when all of them are. Then
 * it runs again.
 */
export const OpenCall = z.lazy(() =>
  z.discriminatedUnion("state", [
    z.object({ state: z.literal("new") }).readonly(),
    z.object({ state: z.literal("intended"), arguments: openRecord.optional() }).readonly(),
    z
      .object({
        state: z.literal("waiting"),
        kind: CallWait,
        reason: z.string(),
        askedAt: z.number(),
        expiresAt: z.number().optional(),
        arguments: openRecord.optional(),
        child: ChildWait.optional()
      })
      .readonly(),
    z
      .object({ state: z.literal("decided"), kind: CallWait, decision: Decision, child: ChildWait.optional() })
      .readonly(),
    z.object({ state: z.literal("manual") }).readonly(),
    z.object({ state: z.literal("done") }).readonly()
  ])
)

export type OpenCall = z.infer<typeof OpenCall>

/**
 * The open step of a thread: its random id, the agent whose calls they are, the index of its message, its calls in order,
 * and how a call that is done ends the turn. Records of older versions have no `id`.
 */
export const OpenStep = z.lazy(() =>
  z
    .object({
      id: z.string().optional(),
      agent: z.string().optional(),
      at: z.number().int().nonnegative(),
      calls: z.array(OpenCall).readonly(),
      halt: StepHalt.optional()
    })
    .readonly()
)

export type OpenStep = z.infer<typeof OpenStep>

/** Whether a decided call continues the chat of a sub-agent, so that it runs again until it has its result. */
export const continuesChild = (call: OpenCall | undefined): boolean =>
  call?.state === "decided" && call.child !== undefined && call.child.chat !== ""

/** Whether a step waits for a decision. */
export const isWaiting = ({ calls }: OpenStep): boolean => calls.some(({ state }) => state === "waiting")
