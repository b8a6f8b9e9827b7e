/**
 * The inputs of a chat, from the moment they are sent until they are in the thread.
 *
 * @module
 */
import * as z from "zod"
import type { SessionErrorReason } from "../errors/index.ts"
import { AgentRef } from "./Child.ts"
import { UserMessage } from "../model/index.ts"

/**
 * How an input is handled that arrives while a turn runs. A chat at rest starts its turn at once, whatever `WhenBusy` is.
 *
 * - `"queue"`: it runs as a turn of its own, after those sent before it
 * - `"steer"`: it joins the running turn at its next step boundary, before the next request; a turn that would have ended
 *   continues with it. If the turn ends otherwise first, the input is queued, ahead of the others
 * - `"interrupt"`: the running turn is cancelled, within its drain deadline, and the input runs next
 * - `"reject"`: it is refused at once, and nothing is stored
 */
export type WhenBusy = "queue" | "steer" | "interrupt" | "reject"

/** How an input is sent. */
export interface SendOptions {
  /**
   * What happens when a turn runs: the input waits for its own turn (`"queue"`), joins the running turn after its step
   * (`"steer"`), cancels the running turn (`"interrupt"`), or is refused with `busy` (`"reject"`). Default: `"queue"`.
   */
  readonly whenBusy?: WhenBusy | undefined
  /**
   * The id of the input. Default: a generated one. An input sent twice under the same id is one input, also across a restart of
   * the program. Other content under the id is refused with a `ValidationError`, until its turn is over.
   */
  readonly id?: string | undefined
  /**
   * The name of the model for the turn of this input; it is stored with an input that waits. Default: that of the Troupe or of
   * the agent.
   */
  readonly model?: string | undefined
}

/**
 * The delivery status of an input.
 *
 * - `delivered`: it is in the stored thread
 * - `pending`: the store has its row, and it is not in the thread yet; it is not lost
 * - `rejected`: it is not stored, and only `retry` still sends it; `error` is the reason. It may be sent again, also
 *   under the same id. The receipt does not change: if `retry` sent the input, sending it again under its id reports that
 *   it was delivered. If the store gave no answer, `error.metadata.outcome` is `"unknown"`: the input may be stored, and the
 *   chat holds it until its next input. Send it again under the same id: it is then in the thread once
 */
export type Receipt =
  | { readonly status: "delivered" }
  | { readonly status: "pending" }
  | { readonly status: "rejected"; readonly reason: SessionErrorReason; readonly error: unknown }

/**
 * A waiting input, as a chat's record stores it; `named` means that its sender chose the id. `agent` is that of a conversation
 * which has no entry yet. `answers` is the question that its sender could have seen.
 */
export const InboxEntry = z.lazy(() =>
  z
    .object({
      id: z.string(),
      named: z.boolean().optional(),
      whenBusy: z.enum(["queue", "steer", "interrupt"]),
      message: UserMessage,
      model: z.string().optional(),
      answers: z.string().optional(),
      agent: AgentRef.optional()
    })
    .readonly()
)
export type InboxEntry = z.infer<typeof InboxEntry>
