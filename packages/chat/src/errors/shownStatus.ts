/**
 * What crash reports, statuses and observers show of the machines of a chat.
 *
 * REPORT7. A report of a process of a chat has the chat, the state of its machine and the type of the handled event. It has no text of
 *          messages, arguments and results.
 */
import { isObject } from "./valueChecks.ts"

/** The type of an event, or the tag of another message. */
const typeOf = (message: unknown): unknown =>
  isObject(message) ? (Reflect.get(message, "type") ?? Reflect.get(message, "_tag")) : undefined

/** `formatStatus` of a machine: its state value, the id of the chat if the machine has it, and the type of the event. */
export const formatStatus = ({
  state: { value, context },
  message
}: {
  readonly state: { readonly value: unknown; readonly context: object }
  readonly message: unknown
}): { readonly state: unknown; readonly message: unknown } => {
  const record: unknown = Reflect.get(context, "record")
  const chat: unknown = Reflect.get(isObject(record) ? record : context, "id")
  return { state: chat === undefined ? value : { chat, state: value }, message: typeOf(message) }
}
