/** Translates names: snake_case in the cases, camelCase in our values. */
import { type Fields, isFields } from "../../runner/fields.ts"

/** `toolCallId` as `tool_call_id`. */
export const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** `tool_call_id` as `toolCallId`. */
export const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The same fields under translated names, without absent ones. */
export const renamed = (fields: Fields, name: (key: string) => string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [name(key), value])
  )

/** The present fields: neither `undefined` nor `null`. */
export const present = (fields: Fields): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))

/** Whether a value is a plain object, not an instance of a class. */
export const isPlain = (value: unknown): value is Fields =>
  isFields(value) && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)
