/** Messages that hooks put in a thread: nobody said them. */
import type { Message } from "../Message.ts"

/** The message, marked as one that the hooks of this event put there. */
export const injected = (message: Message, event: string): Message => ({
  ...message,
  metadata: { ...message.metadata, injected_by: event }
})

/** Whether hooks put a message in its thread. */
export const isInjected = ({ metadata }: Message): boolean => metadata?.["injected_by"] !== undefined
