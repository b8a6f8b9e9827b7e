/** The text of any thrown value, and the text that a model reads about it. */

import { AdapterError, EngineError, shortened, StreamError, ToolError, withoutStack } from "../errors/index.ts"
import { isPromiseLike } from "../async/index.ts"
import { write } from "./taggedJson.ts"

/** The text that a model reads about a failure: `{"error": "…"}`, of at most 2,000 characters. */
export const errorText = (reason: unknown): string =>
  JSON.stringify({ error: shortened(describe(reason)).toWellFormed() })

/** The text of a failure, without its stack; never throws, whatever the value is. */
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

/** The text of a value without a JSON form, with a word in brackets for each part that cannot be written. */
const formText = (value: unknown): string => (isObject(value) ? JSON.stringify(write(value, true).json) : String(value))

const isObject = (value: unknown): boolean => typeof value === "object"

const isTagged = (value: unknown): value is ToolError | AdapterError | StreamError | EngineError =>
  value instanceof ToolError ||
  value instanceof AdapterError ||
  value instanceof StreamError ||
  value instanceof EngineError

/** The content of the asking call's tool message until the user has answered. */
export const awaitingUser = "<awaiting user response>"
