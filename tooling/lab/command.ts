/** The parts that all commands of the laboratory share: the options, by their defaults, and the verdict. */
import { parseArgs } from "node:util"

/** The seed of a run that names none. */
export const anySeed = (): number => Date.now() % 1_000_000

/**
 * The options of a command by their defaults, and its other arguments if it may have some. An option is a text, a number, or a
 * switch, as its default is.
 */
export const optionsOf = <Options extends Readonly<Record<string, unknown>>>(
  defaults: Options,
  allowPositionals = false
) => {
  const options = Object.entries(defaults).map(
    ([name, value]) => [name, { type: typeof value === "boolean" ? "boolean" : "string" } as const] as const
  )
  const { values, positionals: names } = parseArgs({ allowPositionals, options: Object.fromEntries(options) })
  const given = Object.entries(values).map(
    ([name, value]) => [name, typeof defaults[name] === "number" ? Number(value) : value] as const
  )
  return { ...defaults, ...(Object.fromEntries(given) as Partial<Options>), names }
}

/** Prints the faults as `.ci/run` collects them, and sets the exit code to 1; without a fault prints what holds. */
export const conclude = (wrong: ReadonlyArray<string>, holds?: string): void => {
  for (const what of wrong.slice(0, 50)) console.log(`failed: ${what}`)
  if (wrong.length > 0) process.exitCode = 1
  else if (holds !== undefined) console.log(`✓ ${holds}`)
}
