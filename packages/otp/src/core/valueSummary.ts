/**
 * Shows any value as text of bounded length, for reports.
 *
 * SUMM1. The text is at most `longest` characters long, however large, deep or circular the value is. The work is
 *        bounded too.
 * SUMM2. It never throws: a value whose getter or proxy throws is shown as `(cannot be shown)`.
 * ERRTEXT1. The name of a tagged error is its tag, also if it has data that is called `name`.
 */
import { type Pid, pidMark } from "./Pid.ts"

const longest = 600
const longestString = 120
const deepest = 4
const widest = 8

/** The text with at most so many characters. A surrogate pair at the end is left out whole. */
export const cut = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/u, "")}…`

const classOf = (value: object): string => {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null || prototype === Object.prototype || typeof prototype !== "object") return ""
  const { constructor } = prototype
  return typeof constructor === "function" && constructor.name !== "" ? `${constructor.name} ` : ""
}

/** The number of characters left, and the objects that are being written (to find circles). */
interface Sheet {
  left: number
  readonly open: Array<object>
}

const list = (items: Iterable<unknown>, size: number, sheet: Sheet, show: (item: unknown) => string): string => {
  const shown: Array<string> = []
  for (const item of items) {
    if (shown.length === widest || sheet.left <= 0) break
    shown.push(show(item))
  }
  if (shown.length < size) shown.push(`… ${size - shown.length} more`)
  return shown.join(", ")
}

const isSet = (value: object): value is Set<unknown> => value instanceof Set
const isMap = (value: object): value is Map<unknown, unknown> => value instanceof Map

const keyOf = (key: string): string => (/^[\w$]+$/.test(key) ? key : JSON.stringify(cut(key, longestString)))

const contents = (value: object, sheet: Sheet): string => {
  const inner = (item: unknown): string => show(item, sheet)
  if (Array.isArray(value)) return `[${list(value, value.length, sheet, inner)}]`
  if (isSet(value)) return `Set(${value.size}) {${list(value, value.size, sheet, inner)}}`
  if (isMap(value)) {
    const entry = (item: unknown): string => (item as ReadonlyArray<unknown>).map(inner).join(" => ")
    return `Map(${value.size}) {${list(value, value.size, sheet, entry)}}`
  }
  if (ArrayBuffer.isView(value)) return `${classOf(value)}of ${value.byteLength} bytes`
  if (value instanceof Promise) return "Promise"
  const keys = Object.keys(value)
  const field = (key: unknown): string => {
    const name = String(key)
    return `${keyOf(name)}: ${attempt(() => inner(Reflect.get(value, name)))}`
  }
  return `${classOf(value)}${keys.length === 0 ? "{}" : `{ ${list(keys, keys.length, sheet, field)} }`}`
}

/** Returns the result of a function, or `(cannot be shown)` if it throws. */
export const attempt = <A>(run: () => A): A | string => {
  try {
    return run()
  } catch {
    return "(cannot be shown)"
  }
}

const nameOf = (error: Error): string =>
  Object.hasOwn(error, "name") && "_tag" in error && typeof error._tag === "string" ? error._tag : error.name

/** The name and the message of an error (ERRTEXT1). */
export const errorTitle = (error: Error): string => `${nameOf(error)}: ${error.message}`

/** Whether a value is a pid. */
export const isPid = (value: object): value is Pid => pidMark in value

const showObject = (value: object, sheet: Sheet): string => {
  if (isPid(value)) return `${value.label} ${value}`
  if (value instanceof Error) return cut(errorTitle(value), longestString)
  if (sheet.open.includes(value)) return "(circular)"
  if (sheet.open.length === deepest) return Array.isArray(value) ? `[… ${value.length}]` : `${classOf(value)}{…}`
  sheet.open.push(value)
  const text = contents(value, sheet)
  sheet.open.pop()
  return text
}

const show = (value: unknown, sheet: Sheet): string => {
  if (typeof value === "object" && value !== null) return showObject(value, sheet)
  const text =
    typeof value === "string"
      ? JSON.stringify(cut(value, longestString))
      : typeof value === "function"
        ? `function ${cut(value.name, longestString)}`
        : typeof value === "bigint"
          ? `${cut(String(value), longestString)}n`
          : String(value)
  sheet.left -= text.length
  return text
}

/** Shows a value in one line of bounded length. */
export const summary = (value: unknown): string =>
  cut(
    attempt(() => show(value, { left: longest, open: [] })),
    longest
  )

/** Whether a line of a stack is in the engine, Node, Effect, XState or a package of this repository, not in user code. */
const isMachinery = (line: string): boolean =>
  /\/node_modules\/(?:effect|xstate|@troupe)\/|\/packages\/otp\/(?:src|dist)\/|\bnode:|\(<anonymous>\)$|\(native\)$/.test(
    line
  )

/** The lines of a stack in the user's code, and all its lines. */
export const traceOf = (
  stack: string
): { readonly own: ReadonlyArray<string>; readonly all: ReadonlyArray<string> } => {
  const all = stack.split("\n").filter((line) => line.trimStart().startsWith("at "))
  return { own: all.filter((line) => !isMachinery(line)), all }
}
