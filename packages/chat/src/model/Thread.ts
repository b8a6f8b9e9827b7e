/**
 * Threads: an immutable list of messages.
 *
 * @module
 */
import * as z from "zod"
import { openRecord } from "../values/index.ts"
import { Message } from "./messageShapes.ts"

const threadSchema = z.object({ messages: z.array(Message).readonly(), metadata: openRecord.optional() }).readonly()

/** A conversation's messages, oldest first. */
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
  messages: thread.messages.concat(messages)
})

const isMessages = (input: ThreadInput): input is ReadonlyArray<Message> => Array.isArray(input)
