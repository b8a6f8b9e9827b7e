/**
 * Values as plain JSON for people: values that JSON cannot represent are described.
 *
 * READS1. A shown value survives `JSON.stringify` and `JSON.parse` unchanged, except for fields that are `undefined`.
 * READS2. Total: cycles, too deep values and accessors that throw are described, too.
 * READS3. An error is shown with its name, reason and message: no stack, no cause.
 */

/** The most levels of nesting. */
const deepest = 100

/** A copy of the value in plain JSON. */
export const shown = (value: unknown): unknown => shownBelow(value, [])

/** The value itself when it is plain JSON, else a copy in plain JSON. */
export const asShown = <A extends object>(value: A): A => {
  try {
    if (isJson(value, 0)) return value
  } catch {
    // An accessor throws: the copy describes the failure.
  }
  return shown(value) as A
}

/** A thrown value as it is shown. */
export const shownError = (
  error: unknown
): { readonly name: string; readonly reason: string | undefined; readonly message: string } => {
  try {
    if (!(error instanceof Error)) return { name: "Error", reason: undefined, message: shownText(error) }
    const { name, message, reason }: { name: unknown; message: unknown; reason?: unknown } = error
    return {
      name: String(name),
      reason: typeof reason === "string" ? reason : undefined,
      message: String(message)
    }
  } catch {
    return { name: "Error", reason: undefined, message: unreadable }
  }
}

const unreadable = "[unreadable]"

const shownText = (value: unknown): string => {
  if (typeof value === "string") return value
  const json = shown(value)
  return typeof json === "string" ? json : JSON.stringify(json)
}

const shownBelow = (value: unknown, above: ReadonlyArray<object>): unknown => {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value
    case "number":
      if (!Number.isFinite(value)) return String(value)
      return value === 0 ? 0 : value
    case "object":
      return value === null ? null : shownObject(value, above)
    case "bigint":
      return String(value)
    default:
      return `[${typeof value}]`
  }
}

const shownObject = (value: object, above: ReadonlyArray<object>): unknown => {
  if (above.includes(value)) return "[circular]"
  if (above.length >= deepest) return "[too deep]"
  try {
    const inside = [...above, value]
    if (Array.isArray(value)) return Array.from(value, (one: unknown) => shownBelow(one ?? null, inside))
    if (value instanceof Error) {
      const { name, reason, message } = shownError(value)
      return { name, ...(reason !== undefined && { reason }), message }
    }
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString()
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
    if (!isPlain(value)) return "[not plain]"
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, field]: [string, unknown]) =>
        field === undefined ? [] : [[key, shownBelow(field, inside)]]
      )
    )
  } catch {
    return unreadable
  }
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

const isJson = (value: unknown, depth: number): boolean => {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0)
    case "object":
      if (value === null) return true
      if (depth >= deepest) return false
      if (Array.isArray(value)) {
        for (const one of value as ReadonlyArray<unknown>) if (!isJson(one, depth + 1)) return false
        return true
      }
      return isPlain(value) && Object.values(value).every((field) => field === undefined || isJson(field, depth + 1))
    default:
      return false
  }
}
