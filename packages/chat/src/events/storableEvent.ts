/** Checks whether events of an adapter can enter a thread. */

import type { AdapterEvent, ToolCallCompleted } from "./Event.ts"
import { isObject } from "../errors/index.ts"
import { reasonOf, unstorable } from "../model/index.ts"

/** Whether an event completes a call in the form the collector reads. */
export const completesCall = (event: AdapterEvent): event is ToolCallCompleted =>
  event.type === "tool_call_completed" &&
  typeof event.name === "string" &&
  typeof event.rawArguments === "string" &&
  typeof event.arguments === "object"

/** Why the message of an event cannot enter a thread; `undefined` when it can. */
export const unstorableMessage = (event: AdapterEvent): string | undefined => {
  if (event.type !== "message_started" && event.type !== "message_completed") return undefined
  const { message, metadata } = event as {
    readonly message?: { readonly metadata?: unknown }
    readonly metadata?: unknown
  }
  const reasoning: unknown = isObject(metadata) ? Reflect.get(metadata, "reasoning") : undefined
  const finishReason: unknown = event.type === "message_completed" ? event.finishReason : undefined
  const kept: unknown = isObject(message) ? message.metadata : undefined
  if (reasoning === undefined && kept === undefined && isWord(finishReason)) return undefined
  const found = unstorable({ message: { metadata: kept }, metadata: { reasoning }, finishReason })
  if (found.length > 0) return reasonOf(found)
  return isWord(finishReason) ? undefined : "finishReason is not a word"
}

const isWord = (value: unknown): boolean => value === undefined || value === null || typeof value === "string"
