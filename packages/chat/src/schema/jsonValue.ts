/** JSON values as JSON Schema compares them. A bigint is a number. */

import type { Run } from "./check.ts"

/** The name of a value's type. */
export const typeOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "array"
  return typeof value === "bigint" ? "integer" : typeof value
}

/** Whether a value has a type of JSON Schema. */
export const isType = (value: unknown, type: string): boolean => {
  if (type === "integer") return typeof value === "bigint" || Number.isInteger(value)
  return type === "number" ? typeof value === "bigint" || typeof value === "number" : typeOf(value) === type
}

/** A text for a message. */
export const jsonOf = (value: unknown): string =>
  typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? "nothing")

/** A text that is the same for equal values only; its length is counted as steps, and its depth as levels. */
export const canonical = (value: unknown, run: Run): string => {
  if (typeof value === "bigint") return String(Number(value))
  if (typeof value === "string") run.spend(value.length >> 6)
  if (typeof value !== "object" || value === null) return value === 0 ? "0" : JSON.stringify(value)
  run.spend(1)
  return run.below(() => {
    if (Array.isArray(value)) return `[${value.map((item) => canonical(item, run)).join()}]`
    const fields = Object.entries(value).filter(([, field]) => field !== undefined)
    run.spend(2 * fields.length)
    const texts = fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field, run)}`)
    return `{${texts.toSorted().join()}}`
  })
}

/** The number of characters of a text; of a text that has more than the limit in any case, its length. */
export const lengthOf = (text: string, limit: number): number => {
  if (text.length < limit || text.length > 2 * limit) return text.length
  let length = 0
  for (const _ of text) length++
  return length
}

/** How much a quotient of two decimals may differ from the whole number that it stands for, in parts of the quotient. */
const tolerance = 4 * Number.EPSILON

/** Whether a number is a multiple of another. */
export const isMultiple = (value: number | bigint, factor: number): boolean => {
  if (factor <= 0) return true
  if (typeof value === "bigint") return !Number.isInteger(factor) || value % BigInt(factor) === 0n
  const quotient = value / factor
  if (!Number.isFinite(quotient)) return value % factor === 0
  return Math.abs(quotient - Math.round(quotient)) <= tolerance * Math.abs(quotient)
}
