/**
 * What is said to a chat, from the moment it is sent until it is in the thread.
 *
 * @module
 */
import * as z from "zod"
import type { SessionErrorReason } from "../errors/index.ts"
import { UserMessage } from "../model/index.ts"

/**
 * What becomes of an input that arrives while a turn runs. A chat at rest takes it at once, whatever is said here.
 *
 * - `"queue"`: it runs as a turn of its own, after those sent before it
 * - `"steer"`: it joins the running turn at its next step boundary, before the next request; a turn that would have ended
 *   goes on with it. If the turn ends otherwise first, it is queued, ahead of the others
 * - `"interrupt"`: the running turn is cancelled, within its drain deadline, and this one is next
 * - `"reject"`: it is refused at once, and nothing is stored
 */
export type WhenBusy = "queue" | "steer" | "interrupt" | "reject"

/**
 * How an input is sent.
 *
 * **Units and defaults**: `whenBusy` is `"queue"`. `id` is a new one; an input sent twice under the same id is one input,
 * also when the program has been started again in between; other content under it is refused, until its turn is over.
 */
export interface SendOptions {
  readonly whenBusy?: WhenBusy | undefined
  readonly id?: string | undefined
}

/**
 * What is known of an input.
 *
 * - `delivered`: it is in the thread, and the store has it there
 * - `pending`: the store has it in the chat's record, and it is not in the thread yet; it is not lost. Also said where the store gave no
 *   answer in time: then it may have it, and the chat holds the input until it is next sent to
 * - `rejected`: it is not in the thread, and only `retry` still says it; `error` says more. It may be sent again, under the
 *   same id too. The receipt stays what it is: where `retry` said it, sending it again under its id tells that it was delivered
 */
export type Receipt =
  | { readonly status: "delivered" }
  | { readonly status: "pending" }
  | { readonly status: "rejected"; readonly reason: SessionErrorReason; readonly error: unknown }

/** An input that waits, as a chat's record keeps it; `named` says that its sender chose the id. */
export const InboxEntry = z
  .object({
    id: z.string(),
    named: z.boolean().optional(),
    whenBusy: z.enum(["queue", "steer", "interrupt"]),
    message: UserMessage
  })
  .readonly()
export type InboxEntry = z.infer<typeof InboxEntry>
