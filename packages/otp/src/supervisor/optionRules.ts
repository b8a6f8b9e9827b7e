/**
 * Checks of options and child specs, for untyped code. Each error names the invalid value and the allowed ones.
 */
import { type ChildSpec, InvalidOption } from "../core/index.ts"

/** Throws unless the value is one of some words. */
export const checkWord = (option: string, value: unknown, words: ReadonlyArray<string>): void => {
  if (words.includes(value as string)) return
  throw new InvalidOption({ option, value, allowed: words.map((word) => `"${word}"`).join(" or ") })
}

const isAmount = (value: unknown): boolean => typeof value === "number" && value >= 0

/** Throws unless the value is a number, 0 or more. */
export const checkAmount = (option: string, value: unknown): void => {
  if (!isAmount(value)) throw new InvalidOption({ option, value, allowed: "a number, 0 or more" })
}

/** Throws unless the value is a whole number above 0; with `boundless`, `Infinity` is valid too. */
export const checkCount = (option: string, value: unknown, boundless = false): void => {
  if (Number.isInteger(value) && (value as number) > 0) return
  if (boundless && value === Number.POSITIVE_INFINITY) return
  const allowed = boundless ? "a whole number, 1 or more, or Infinity" : "a whole number, 1 or more"
  throw new InvalidOption({ option, value, allowed })
}

/** Returns the error of a child spec, if any. */
export const specError = (
  spec: Omit<ChildSpec, "id" | "start"> & { readonly id?: unknown; readonly start: unknown },
  needsId = true
): InvalidOption | undefined => {
  if (typeof spec !== "object" || spec === null) {
    return new InvalidOption({
      option: "child spec",
      value: spec,
      allowed: "an object with an id and a start function"
    })
  }
  const { id, start, restart, shutdown, type } = spec
  if (typeof id !== "string" && (needsId || id !== undefined))
    return new InvalidOption({ option: "id", value: id, allowed: "a string" })
  if (typeof start !== "function") {
    return new InvalidOption({ option: "start", value: start, allowed: "a function that starts the child" })
  }
  if (restart !== undefined && restart !== "permanent" && restart !== "transient" && restart !== "temporary") {
    return new InvalidOption({ option: "restart", value: restart, allowed: '"permanent", "transient" or "temporary"' })
  }
  if (type !== undefined && type !== "worker" && type !== "supervisor") {
    return new InvalidOption({ option: "type", value: type, allowed: '"worker" or "supervisor"' })
  }
  if (shutdown === undefined || shutdown === "infinity" || shutdown === "brutalKill" || isAmount(shutdown)) return
  const allowed = 'milliseconds, 0 or more, or "infinity" or "brutalKill"'
  return new InvalidOption({ option: "shutdown", value: shutdown, allowed })
}
