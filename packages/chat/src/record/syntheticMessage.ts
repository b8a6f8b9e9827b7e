/** Messages in a thread that neither a person nor the model wrote. */
import type { Message } from "../model/index.ts"

/** The message, marked as injected by the hooks of this event. */
export const injected = (message: Message, event: string): Message => ({
  ...message,
  metadata: { ...message.metadata, injected_by: event }
})

/** Whether hooks injected a message: the hooks of one event, or of any. */
export const isInjected = ({ metadata }: Message, event?: string): boolean => {
  const by = metadata?.["injected_by"]
  return event === undefined ? by !== undefined : by === event
}

/** Whether a message is the nudge that begins a second pass. */
export const isNudge = ({ metadata }: Message): boolean => metadata?.["structured_finalize"] === true
