/** The seeds of storms that have found a fault. */

const seeds: readonly [number, ...ReadonlyArray<number>] = [7, 13]

const dayMs = 86_400_000

/** One of the seeds, the next one each day: so `verify:full` runs all of them in turn. */
export const seedOfDay = (now: number): number => seeds[Math.floor(now / dayMs) % seeds.length] ?? seeds[0]
