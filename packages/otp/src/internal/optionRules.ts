/**
 * What options and child specs may say, for code whose types do not: each check names what is wrong and what is allowed.
 */
import type { ChildSpec } from "../ChildSpec.ts"
import { InvalidOption } from "../OtpError.ts"

/** Refuses what is none of some words. */
export const checkWord = (option: string, value: unknown, words: ReadonlyArray<string>): void => {
  if (words.includes(value as string)) return
  throw new InvalidOption({ option, value, allowed: words.map((word) => `"${word}"`).join(" or ") })
}

const isAmount = (value: unknown): boolean => typeof value === "number" && value >= 0

/** Refuses what is no number, or less than 0. */
export const checkAmount = (option: string, value: unknown): void => {
  if (!isAmount(value)) throw new InvalidOption({ option, value, allowed: "a number, 0 or more" })
}

/** Refuses what is no whole number above 0; `Infinity` is one where there need be no bound. */
export const checkCount = (option: string, value: unknown, boundless = false): void => {
  if (Number.isInteger(value) && (value as number) > 0) return
  if (boundless && value === Number.POSITIVE_INFINITY) return
  const allowed = boundless ? "a whole number, 1 or more, or Infinity" : "a whole number, 1 or more"
  throw new InvalidOption({ option, value, allowed })
}

const restarts = ["permanent", "transient", "temporary"]
const kinds = ["supervisor", "worker"]

const checkRules = ({ restart, shutdown, type }: Omit<ChildSpec, "start">): void => {
  if (restart !== undefined) checkWord("restart", restart, restarts)
  if (type !== undefined) checkWord("type", type, kinds)
  if (shutdown === undefined || shutdown === "infinity" || shutdown === "brutalKill" || isAmount(shutdown)) return
  const allowed = 'milliseconds, 0 or more, or "infinity" or "brutalKill"'
  throw new InvalidOption({ option: "shutdown", value: shutdown, allowed })
}

/** Refuses what is no child spec. */
export const checkSpec = (spec: Omit<ChildSpec, "start"> & { readonly start: unknown }): void => {
  if (typeof spec !== "object" || spec === null) {
    throw new InvalidOption({ option: "child spec", value: spec, allowed: "an object with an id and a start function" })
  }
  if (typeof spec.id !== "string") throw new InvalidOption({ option: "id", value: spec.id, allowed: "a string" })
  if (typeof spec.start !== "function") {
    throw new InvalidOption({ option: "start", value: spec.start, allowed: "a function that starts the child" })
  }
  checkRules(spec)
}
