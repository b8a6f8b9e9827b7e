/**
 * Where a system's random numbers come from: the host, or a seed.
 *
 * CHANCE1. The numbers of a seed are the same, in the same order, on every host.
 */

/** Gives numbers from 0 up to 1. */
export type Chance = () => number

const range = 2 ** 32

/** The host's: nobody can tell the next one. */
export const hostChance: Chance = () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / range

/** Those of a seed, by the generator mulberry32 (CHANCE1). */
export const seededChance = (seed: number): Chance => {
  let state = (Math.imul(Math.floor(seed / range), 0x9e3779b1) ^ seed) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / range
  }
}

const digits = "0123456789abcdef"

/** An id in the form of a random UUID. */
export const uuidBy = (chance: Chance): string =>
  "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replaceAll(/[xy]/g, (place) => {
    const digit = Math.floor(chance() * 16)
    return digits[place === "x" ? digit : (digit % 4) + 8] ?? "0"
  })
