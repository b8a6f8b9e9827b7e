/** Which names a tool can have, and what to write instead of another. */
import { quoted } from "./truncate.ts"

/** The problem of a tool name; `undefined` for a valid name. */
export const nameProblem = (name: unknown): "empty" | "reserved_tool_name" | "invalid_format" | undefined => {
  if (name === "") return "empty"
  if (name === "auto" || name === "none" || name === "required") return "reserved_tool_name"
  return typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name) ? undefined : "invalid_format"
}

/** What to write instead of an invalid name: the name itself, and a valid name that is close to it. */
export const nameAdvice = (name: unknown): string => {
  if (typeof name !== "string" || name === "") return 'every tool needs a name, for example name: "get_weather"'
  if (nameProblem(name) === "reserved_tool_name") {
    return `"${name}" is a word of toolChoice, so no tool can have it; write for example name: "${name}_tool"`
  }
  const valid = name.replaceAll(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64)
  return `instead of "${quoted(name)}" write for example name: "${/[A-Za-z0-9]/.test(valid) ? valid : "my_tool"}"`
}

/** What to write when two tools of a list have the same name. */
export const repeatedName = (name: unknown, first: number, second: number): string =>
  `tools.${first} and tools.${second} are both named "${quoted(String(name))}": rename one of them, or leave it out`

/** The index of the first name that is also earlier in the list; -1 if there is none. */
export const repeatedIndex = (
  names: ReadonlyArray<unknown>,
  counts: (name: unknown) => boolean = () => true
): number => {
  const earlier = new Set<unknown>()
  return names.findIndex((name) => {
    if (!counts(name)) return false
    if (earlier.has(name)) return true
    earlier.add(name)
    return false
  })
}
