/**
 * Encodes tool results as text for the model.
 *
 * @module
 * @source ALLM.ToolResultEncoder
 */
import { isHandlerResult } from "./HandlerResult.ts"
import { jsonText } from "./resultText.ts"
import { errorText } from "./errorText.ts"

/** The port that encodes tool results. */
export interface ToolResultEncoder {
  /**
   * Returns the text of a value for the model, or throws when the value has none. A throw, or anything but a string, becomes an
   * `encoding_failed` tool error. For a result with parts it is called with each text and each JSON value.
   *
   * **Contract**: synchronous and pure.
   */
  readonly encode: (value: unknown) => string
}

/**
 * The default encoder: strings unchanged, all other values as JSON.
 *
 * **Details**: an outcome value is written as `{"ok": …}` or `{"error": …}`; the text of an error is its short reason,
 * without a stack, of at most 2,000 characters. `undefined` is written as `null`.
 *
 * **Errors**: throws a `TypeError` that names an alternative, for a value without a JSON form, at any depth: binary data
 * (`Buffer`, `Uint8Array`, `ArrayBuffer`), functions, symbols, bigints, cycles, promises, errors, `Map`, `Set`, invalid
 * dates and instances of classes that have neither fields nor `toJSON`.
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
