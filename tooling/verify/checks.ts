/**
 * The checks of the house: what they are, and which run side by side.
 *
 * @module
 */
import { compileCache } from "../house/workspace.ts"

/** One check: a command in the root of the repository. */
export interface Check {
  readonly name: string
  readonly command: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** Whether the output ends with a tally line, which is added to the tally of all checks. */
  readonly isCounted: boolean
}

/** A check that starts many programs, which compile the same sources once. */
const starting = (check: Check): Check => ({ ...check, env: { NODE_COMPILE_CACHE: compileCache } })

/** Checks that run one after another. */
export type Lane = ReadonlyArray<Check>

const script = (name: string, ...options: ReadonlyArray<string>): Check => ({
  name,
  command: ["pnpm", "run", name, ...options],
  isCounted: false
})

const counted = (check: Check): Check => ({ ...check, isCounted: true })

/** The tests; `verify:full` runs them with all random programs. */
const test = counted(script("test"))
const allOf = (check: Check): Check => ({ ...check, env: { TROUPE_VOLUME: "full" } })

/** One processor is left for the lane beside: the linter's threads would repeat each other's work. */
const lint: Check = { ...script("lint"), env: { GOMAXPROCS: "1" } }

/** The checks that read sources. */
const sources: Lane = [script("format:check"), lint, script("knip"), script("typecheck")]

/** `verify`: the tests with a fifth of the random programs, beside the checks that read sources. */
export const quick = (): ReadonlyArray<Lane> => [[test], sources]

/**
 * `verify:full`: phases of lanes. The lanes of a phase run side by side.
 *
 * **Details**: the storm waits more than it computes, and so do `packed` and `check:next`, which install packages.
 * Measurements of memory and time come last and alone.
 */
export const full = (isTested: boolean): ReadonlyArray<ReadonlyArray<Lane>> => [
  [
    [...(isTested ? [] : [allOf(test)]), counted(script("programs"))],
    [...sources, counted(script("check:next"))],
    [script("packed"), script("storm", "--kept", "--minutes", "1"), script("fuzz")].map(counted).map(starting)
  ],
  [[counted(script("growth"))]]
]
