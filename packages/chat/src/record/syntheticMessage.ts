/** Messages that hooks put in a thread: nobody said them. */
import type { Message } from "../model/index.ts"

/** The message, marked as one that the hooks of this event put there. */
export const injected = (message: Message, event: string): Message => ({
  ...message,
  metadata: { ...message.metadata, injected_by: event }
})

/** Whether hooks put a message in its thread; those of one event, or any. */
export const isInjected = ({ metadata }: Message, event?: string): boolean => {
  const by = metadata?.["injected_by"]
  return event === undefined ? by !== undefined : by === event
}

/** Whether a message is what begins a second pass: nobody said it. */
export const isNudge = ({ metadata }: Message): boolean => metadata?.["structured_finalize"] === true
