/**
 * The random volume of a test run.
 *
 * **Details**: `TROUPE_VOLUME=full` runs every random program. Otherwise a run takes a fifth of them, chosen by its seed.
 * `TROUPE_SEED` is the seed. The runner sets and prints it, so that a failing run can be repeated. Seeds of five consecutive
 * numbers together run the full volume.
 *
 * @module
 */

/** The share of the random programs that a run without `TROUPE_VOLUME=full` takes. */
const parts = 5

const isFull = process.env["TROUPE_VOLUME"] === "full"

/** The seed of the run. */
export const runSeed = Number(process.env["TROUPE_SEED"] ?? 0)

/** The seeds of a family of `count` random programs: 1 to `count`, or the fifth of them that belongs to the run. */
export const seedsOf = (count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, index) => index + 1).filter((seed) => isFull || seed % parts === runSeed % parts)

/** The options of a property test: its number of runs and its seed. */
export const runsOf = (count: number): { readonly arbitrary: { readonly runs: number; readonly seed: number } } => ({
  arbitrary: { runs: isFull ? count : Math.ceil(count / parts), seed: runSeed }
})
