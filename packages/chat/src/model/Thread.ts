/**
 * Threads: an immutable list of messages.
 *
 * @module
 */
import * as z from "zod"
import { extended } from "../json/index.ts"
import { openRecord } from "../values/index.ts"
import { Message } from "./messageShapes.ts"
import { Usage } from "./Usage.ts"

const place = z.number().int().nonnegative()

/**
 * What requests of a thread have in place of its first messages. The thread itself stays whole.
 *
 * - `upTo`: how many of the first messages requests leave out
 * - `summary`: the text in their place; absent if they are left out without a summary
 * - `kept`: the places of messages below `upTo` that requests have all the same, because something refers to them
 * - `pruned`: results of calls before this place have at most so many characters in a request
 * - `plan`: the plan of the `plan` tool, if its last call is among the messages that are left out
 * - `tokens`: the size of the request before and after, as it was estimated
 * - `usage`, `model`: of the request that wrote the summary
 */
export const Compaction = z.lazy(() =>
  z
    .object({
      upTo: place,
      summary: z.string().optional(),
      kept: z.array(place).readonly(),
      pruned: z.object({ before: place, characters: place }).readonly().optional(),
      plan: z.string().optional(),
      tokens: z.object({ before: z.number(), after: z.number() }).readonly(),
      usage: Usage.optional(),
      model: z.string().optional()
    })
    .readonly()
)
export type Compaction = z.infer<typeof Compaction>

const threadSchema = z.lazy(() =>
  z
    .object({
      messages: z.array(Message).readonly(),
      metadata: openRecord.optional(),
      compaction: Compaction.optional()
    })
    .readonly()
)

/** A conversation's messages, oldest first, and what requests have in place of the first ones. */
export interface Thread extends z.infer<typeof threadSchema> {}
export const Thread: z.ZodType<Thread> = threadSchema

/** The thread without messages. */
export const empty: Thread = Object.freeze({ messages: Object.freeze([]) })

/** The input of every operation: a thread, or only its messages. */
export type ThreadInput = Thread | ReadonlyArray<Message>

/** A thread from either form; a thread is returned unchanged. */
export const from = (input: ThreadInput): Thread => (isMessages(input) ? { messages: input } : input)

/** A new thread with these messages at the end. */
export const append = (thread: Thread, ...messages: ReadonlyArray<Message>): Thread => ({
  ...thread,
  messages: extended(thread.messages, messages)
})

const isMessages = (input: ThreadInput): input is ReadonlyArray<Message> => Array.isArray(input)
