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

const test = counted(script("test"))

/** One processor is left for the lane beside: the linter's threads would repeat each other's work. */
const lint: Check = { ...script("lint"), env: { GOMAXPROCS: "1" } }

/** The checks that read sources. */
const sources: Lane = [script("format:check"), lint, script("knip"), script("typecheck")]

/** `verify`: the tests with a fifth of the random programs, beside the checks that read sources. */
export const quick = (): ReadonlyArray<Lane> => [[test], sources]

/**
 * `verify:full`: phases of lanes. The lanes of a phase run side by side.
 *
 * **Details**: the tests run all random programs. The storm waits more than it computes, and so do `packed` and `check:next`, which install packages.
 * Measurements of memory and time come last and alone.
 */
export const full = (isTested: boolean): ReadonlyArray<ReadonlyArray<Lane>> => [
  [
    [...(isTested ? [] : [{ ...test, env: { TROUPE_VOLUME: "full" } }]), counted(script("programs"))],
    [...sources, counted(script("check:next"))],
    [script("packed"), script("storm", "--kept", "--minutes", "1"), script("fuzz")].map(counted)
  ],
  [[counted(script("growth"))]]
]
