/**
 * Turns tool results into the text a model reads.
 *
 * @module
 * @source ALLM.ToolResultEncoder
 */
import { AdapterError, EngineError, StreamError, ToolError } from "../errors/ChatError.ts"
import { isHandlerResult } from "../model/HandlerResult.ts"
import { isPromiseLike } from "../async/awaitable.ts"
import { write } from "../json/taggedJson.ts"
import { jsonText } from "./resultText.ts"
import { shortened, withoutStack } from "../errors/truncate.ts"

/**
 * The port.
 *
 * **Contract** of `encode`: pure; returns the text, or throws when the value has none. A throw, or anything but a string,
 * becomes an `encoding_failed` tool error.
 */
export interface ToolResultEncoder {
  readonly encode: (value: unknown) => string
}

/**
 * The default: strings as they are, everything else as JSON.
 *
 * **Details**: an outcome value is written as `{"ok": …}` or `{"error": …}`; an error's text is its short reason, never a
 * stack, of no more than 2,000 characters. `undefined` is written as `null`.
 *
 * **Errors**: throws a `TypeError` that says what to return instead, for a value that JSON cannot say, wherever it stands:
 * binary data (`Buffer`, `Uint8Array`, `ArrayBuffer`), functions, symbols, bigints, cycles, promises, errors, `Map`, `Set`,
 * invalid dates and instances of classes that have neither fields nor `toJSON`.
 */
export const json: ToolResultEncoder = {
  encode: (value) => {
    if (typeof value === "string") return value
    if (isHandlerResult(value)) {
      if (value.type === "ok") return jsonText({ ok: value.value ?? null })
      if (value.type === "error") return errorText(value.reason)
    }
    return jsonText(value)
  }
}

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
