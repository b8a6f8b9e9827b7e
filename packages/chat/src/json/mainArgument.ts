/** The argument of a call that says most about it, for one line of a user interface. */

/** The names of arguments that say most, the best first. */
const names: ReadonlyArray<string> = [
  "query",
  "question",
  "path",
  "file",
  "url",
  "command",
  "expression",
  "city",
  "location",
  "topic",
  "subject",
  "title",
  "name",
  "input",
  "text",
  "id"
]

/** Only so many arguments and characters are read, however large they are. */
const mostRead = 20
const longestRead = 320
const longest = 80

const scalarText = (value: unknown): string | undefined => {
  if (typeof value !== "string") {
    return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined
  }
  const line = value.slice(0, longestRead).toWellFormed().replaceAll(/\s+/g, " ").trim()
  if (line === "") return undefined
  const letters = Array.from(line)
  return letters.length <= longest && value.length <= longestRead ? line : `${letters.slice(0, longest - 1).join("")}…`
}

/**
 * The text of the main argument, in one line of at most 80 characters; `undefined` if no argument is a text, a
 * number or a boolean.
 */
export const mainArgument = (args: Readonly<Record<string, unknown>> | null): string | undefined => {
  if (args === null) return undefined
  for (const name of names) {
    const text = Object.hasOwn(args, name) ? scalarText(args[name]) : undefined
    if (text !== undefined) return text
  }
  let read = 0
  for (const name in args) {
    if (++read > mostRead) return undefined
    const text = scalarText(args[name])
    if (text !== undefined) return text
  }
  return undefined
}
