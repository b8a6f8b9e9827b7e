/**
 * Checks whether events of an adapter can enter a thread.
 *
 * ASRC7. A call whose name, arguments or metadata are too large, or cannot be stored, is collected and emitted with
 *        `arguments: null`.
 */

import type { AdapterEvent, MessageCompleted, MessageStarted, ToolCallCompleted } from "./Event.ts"
import { wellFormed } from "../json/index.ts"
import { AdapterError, isObject } from "../errors/index.ts"
import { AssistantPart, reasonOf, storableCall, unstorable } from "../model/index.ts"

/**
 * The event as it can enter a thread: a call that cannot be stored gets `arguments: null`, and a part of an unknown kind
 * becomes a `custom` part. Whole texts are well-formed (WELL1); a fragment of a text may end within a pair.
 *
 * **Errors**: throws an `AdapterError` when the message of the event cannot be stored.
 */
export const storableEvent = (event: AdapterEvent, maxToolArgumentCharacters: number): AdapterEvent => {
  switch (event.type) {
    case "tool_call_completed":
      return isReadable(event) ? storableCall(event, maxToolArgumentCharacters) : event
    case "text_completed":
      return wellFormed(event)
    case "message_started":
    case "message_completed": {
      const reason = unstorableMessage(event)
      if (reason === undefined) return wellFormed(withParts(event))
      throw new AdapterError("malformed_response", {
        message: `The adapter yielded a message that cannot be stored: ${reason}; yield plain JSON`
      })
    }
    default:
      return event
  }
}

/** Whether a completed call has the form the collector reads. */
const isReadable = (event: ToolCallCompleted): boolean =>
  typeof event.name === "string" && typeof event.rawArguments === "string" && typeof event.arguments === "object"

/** Why the message of an event cannot enter a thread; `undefined` when it can. */
const unstorableMessage = (event: MessageStarted | MessageCompleted): string | undefined => {
  const { message, metadata } = event as {
    readonly message?: { readonly metadata?: unknown; readonly parts?: unknown }
    readonly metadata?: unknown
  }
  const reasoning: unknown = isObject(metadata) ? Reflect.get(metadata, "reasoning") : undefined
  const finishReason: unknown = event.type === "message_completed" ? event.finishReason : undefined
  const kept: unknown = isObject(message) ? message.metadata : undefined
  const parts: unknown = isObject(message) ? message.parts : undefined
  if (reasoning === undefined && kept === undefined && parts === undefined && isWord(finishReason)) return undefined
  const found = unstorable({ message: { metadata: kept, parts }, metadata: { reasoning }, finishReason })
  if (found.length > 0) return reasonOf(found)
  return isWord(finishReason) ? undefined : "finishReason is not a word"
}

/** The event, with each part of its message in a known form: a part of an unknown kind is kept as it came. */
const withParts = <Event extends MessageStarted | MessageCompleted>(event: Event): Event => {
  const { message } = event as { readonly message?: { readonly parts?: unknown } }
  if (!isObject(message) || message.parts === undefined) return event
  const { parts, ...rest } = message
  const list = Array.isArray(parts) ? parts.flatMap(partOf) : []
  return { ...event, message: { ...rest, ...(list.length === 0 ? {} : { parts: list }) } }
}

const partOf = (value: unknown): ReadonlyArray<AssistantPart> => {
  if (AssistantPart.safeParse(value).success) return [value as AssistantPart]
  const kind: unknown = isObject(value) ? Reflect.get(value, "type") : undefined
  return typeof kind === "string" ? [{ type: "custom", kind, data: value }] : []
}

const isWord = (value: unknown): boolean => value === undefined || value === null || typeof value === "string"
