/**
 * The bounds of schemas and texts that a server sends.
 *
 * MCPB1. A part of a schema below `maxSchemaDepth` levels accepts any value. A schema with more than `maxSchemaCharacters` characters is
 *        that of any object. The time and the memory of this check are bounded by these numbers.
 */
import type { McpBounds } from "../connection/index.ts"

/** A JSON Schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>

/** The bounds, with the defaults. */
export const boundsOf = (bounds: McpBounds = {}): Required<{ readonly [K in keyof McpBounds]: number }> => ({
  maxTools: bounds.maxTools ?? 512,
  maxSchemaCharacters: bounds.maxSchemaCharacters ?? 65_536,
  maxSchemaDepth: bounds.maxSchemaDepth ?? 64,
  maxTextCharacters: bounds.maxTextCharacters ?? 16_384
})

/** The schema within the bounds (MCPB1). */
export const boundedSchema = (schema: Schema, bounds: McpBounds | undefined): Schema => {
  const { maxSchemaCharacters, maxSchemaDepth } = boundsOf(bounds)
  let left = maxSchemaCharacters
  const copy = (value: unknown, levels: number): unknown => {
    if (typeof value === "string") left -= value.length
    left -= 1
    if (left < 0 || typeof value !== "object" || value === null) return value
    if (levels === 0) return Array.isArray(value) ? [] : {}
    if (Array.isArray(value)) return value.map((item) => copy(item, levels - 1))
    const entries = Object.entries(value).map(([key, item]) => {
      left -= key.length
      return [key, copy(item, levels - 1)] as const
    })
    return Object.fromEntries(entries)
  }
  const bounded = copy(schema, maxSchemaDepth)
  return left < 0 ? { type: "object" } : (bounded as Schema)
}

/** The text within the bounds. */
export const boundedText = (text: string, bounds: McpBounds | undefined): string => {
  const { maxTextCharacters } = boundsOf(bounds)
  return text.length <= maxTextCharacters ? text : `${text.slice(0, maxTextCharacters).toWellFormed()}…`
}
