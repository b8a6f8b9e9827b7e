/**
 * The checks of the house: what they are, and which run side by side.
 *
 * @module
 */

/** One check: a command in the root of the repository. */
export interface Check {
  readonly name: string
  readonly command: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** Whether the output ends with a tally line, which is added to the tally of all checks. */
  readonly isCounted: boolean
}

/** Checks that run one after another. */
export type Lane = ReadonlyArray<Check>

const script = (name: string, ...options: ReadonlyArray<string>): Check => ({
  name,
  command: ["pnpm", "run", name, ...options],
  isCounted: false
})

const counted = (check: Check): Check => ({ ...check, isCounted: true })

const test = script("test")

/** One processor is left for the lane beside: the linter's threads would repeat each other's work. */
const lint: Check = { ...script("lint"), env: { GOMAXPROCS: "1" } }

/** The checks that read sources. */
const sources: Lane = [script("format:check"), lint, script("knip")]

const types = script("typecheck")

/** `verify`: the tests with a fifth of the random programs, beside the checks that read sources. */
export const quick = (): ReadonlyArray<Lane> => [[counted(test)], [...sources, types]]

const whole = (check: Check): Check => ({ ...counted(check), env: { TROUPE_VOLUME: "full" } })

/**
 * `verify:full`: phases of lanes. The lanes of a phase run side by side.
 *
 * **Details**: the tests run all random programs. Compilers and linters need every processor, and programs and browsers have deadlines,
 * so they run one after the other. Measurements of memory and time come last and alone: growth, and then the release, whose first token
 * is measured, and whose templates are opened in a browser. Its packages are packed as the types were built.
 */
export const full = (isTested: boolean): ReadonlyArray<ReadonlyArray<Lane>> => [
  ...(isTested ? [] : [[[whole(test)]]]),
  [[types], sources],
  [
    [whole(script("programs", "--maxWorkers", "2"))],
    [counted(script("mcp")), counted(script("fuzz")), counted(script("storm", "--kept", "--minutes", "0.5"))]
  ],
  [[counted(script("growth"))]],
  [[counted(script("release:check"))]]
]
