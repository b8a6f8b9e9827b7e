/**
 * The checks of the house: what they are, and which run side by side.
 *
 * @module
 */
import { files, readText } from "../house/workspace.ts"

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

/** The tests: a fifth of the random volume, and no measurement of memory or time. */
const test = counted(script("test"))

/** The checks that read sources. */
const sources: Lane = ["format:check", "lint", "knip", "typecheck", "diagnostics"].map((name) => script(name))

/** The test files with random programs, which say so by their import. */
const randomFiles = (): ReadonlyArray<string> =>
  files("{packages,apps,tooling}/**/test/**/*.test.{ts,tsx}").filter((path) =>
    readText(path).includes("verify/volume.ts")
  )

/** The other four fifths of the random volume. */
const volume = (): Check => ({
  ...counted(script("test", ...randomFiles())),
  name: "test, the rest of the random volume",
  env: { TROUPE_VOLUME: "rest" }
})

/** `verify`: the tests beside the checks that read sources. */
export const quick = (): ReadonlyArray<Lane> => [[test], sources]

/**
 * `verify:full`: phases of lanes. The lanes of a phase run side by side.
 *
 * **Details**: the storm takes two minutes, and one of the seeds that have found a fault. It waits more than it computes, and
 * so do `packed` and `check:next`, which install packages. Measurements of memory and time come last and alone.
 */
export const full = (isTested: boolean): ReadonlyArray<ReadonlyArray<Lane>> => [
  [
    [...(isTested ? [] : [test]), volume()],
    [...sources, counted(script("check:next"))],
    [counted(script("packed")), counted(script("storm", "--kept")), counted(script("fuzz"))]
  ],
  [[counted(script("growth"))]]
]
