/** The text of any thrown value, and the text that a model reads about it. */

import { AdapterError, EngineError, shortened, StreamError, ToolError, withoutStack } from "../errors/index.ts"
import { isPromiseLike } from "../async/index.ts"
import { write } from "./taggedJson.ts"

/** The text a model reads about a failure: `{"error": "…"}`, of no more than 2,000 characters. */
export const errorText = (reason: unknown): string => JSON.stringify({ error: shortened(describe(reason)) })

/** A failure in words, without the places of a stack; total, whatever was thrown. */
export const describe = (reason: unknown): string => {
  try {
    if (isTagged(reason)) return `${reason.reason}: ${withoutStack(reason.message)}`
    if (reason instanceof Error) return withoutStack(reason.message) || reason.name
    if (typeof reason === "string") return reason
    if (typeof reason === "number") return String(reason)
    if (isPromiseLike(reason)) return "a promise"
    return plainText(reason) ?? formText(reason)
  } catch {
    return `an indescribable ${typeof reason}`
  }
}

/** The JSON text of a value; `undefined` when it has none. */
const plainText = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** The text of what JSON alone cannot say, with a word in brackets for each part that has no form at all. */
const formText = (value: unknown): string => (isObject(value) ? JSON.stringify(write(value, true).json) : String(value))

const isObject = (value: unknown): boolean => typeof value === "object"

const isTagged = (value: unknown): value is ToolError | AdapterError | StreamError | EngineError =>
  value instanceof ToolError ||
  value instanceof AdapterError ||
  value instanceof StreamError ||
  value instanceof EngineError

/** What the asking call's tool message says until the user has answered. */
export const awaitingUser = "<awaiting user response>"
