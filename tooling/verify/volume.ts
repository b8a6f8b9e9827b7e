/**
 * The random volume of a test run.
 *
 * **Details**: a run takes a fifth of the random programs, which its seed chooses. `TROUPE_VOLUME=full` runs all. A number runs so many
 * programs of each family of {@link seedsOf}.
 * `TROUPE_SEED` is the seed; the test runner sets it when it is absent, and prints it.
 *
 * @module
 */

/** The number of parts, of which a run takes one. */
const parts = 5

const volume = process.env["TROUPE_VOLUME"]
/** How many programs of each family the run takes; `undefined` for its own number. */
const programs = Number(volume) || undefined
const isFull = volume === "full" || programs !== undefined

/** The seed of the run: 0 to 4, as there are five different runs. */
export const runSeed = Number(process.env["TROUPE_SEED"] ?? 0) % parts

const isTaken = (seed: number): boolean => isFull || seed % parts === runSeed

/** The seeds of a family of `count` random programs that the run takes, of 1 to `count`. */
export const seedsOf = (count: number): ReadonlyArray<number> =>
  Array.from({ length: programs ?? count }, (_, index) => index + 1).filter(isTaken)

/** The options of a property test: how many of its `count` runs are made, and the seed of their values. */
export const runsOf = (count: number): { readonly arbitrary: { readonly runs: number; readonly seed: number } } => ({
  arbitrary: {
    runs: Math.max(1, Array.from({ length: count }, (_, index) => index).filter(isTaken).length),
    seed: isFull ? parts + runSeed : runSeed
  }
})
