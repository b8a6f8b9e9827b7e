/** Messages that hooks put in a thread: nobody said them. */
import type { LifecycleEvent } from "../gate/Hooks.ts"
import type { Message } from "../model/Message.ts"

/** The message, marked as one that the hooks of this event put there. */
export const injected = (message: Message, event: LifecycleEvent): Message => ({
  ...message,
  metadata: { ...message.metadata, injected_by: event }
})

/** Whether hooks put a message in its thread; those of one event, or any. */
export const isInjected = ({ metadata }: Message, event?: LifecycleEvent): boolean => {
  const by = metadata?.["injected_by"]
  return event === undefined ? by !== undefined : by === event
}
