/** The side of a program that another program starts: its options, its lines, and its end with its parent. */
import { writeSync } from "node:fs"

/** The variable of the environment with the options: unlike arguments, other users of the machine cannot read it. */
export const optionsName = "TROUPE_PROGRAM"

/** The options that the parent has given. */
export const givenOptions = (): unknown => JSON.parse(process.env[optionsName] ?? "{}")

/** Writes a line of JSON to the parent. */
export const say = (line: object): void => {
  try {
    writeSync(1, `${JSON.stringify(line)}\n`)
  } catch {
    // The parent has ended, and this program ends too.
  }
}

/** Calls a function when the parent has ended, however it ended, or has closed the input of this program. */
export const whenParentEnds = (end: () => void): void => {
  process.stdin.once("close", end)
  process.stdin.resume()
}
