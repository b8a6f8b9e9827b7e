/**
 * The source of a system's random numbers: the host, or a seed.
 *
 * CHANCE1. A seed gives the same numbers in the same order on every host.
 * CHANCE2. A seed has one stream of numbers for each name; a draw from one stream does not advance another.
 */

/** Returns random numbers from 0 up to, not including, 1. */
export type Chance = () => number

const range = 2 ** 32

/** The random numbers of the host, which are not predictable. */
const hostChance: Chance = () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / range

/** The numbers of one stream of a seed, by the generator mulberry32 (CHANCE1). */
const seededChance = (seed: number, stream: string): Chance => {
  let state = (Math.imul(Math.floor(seed / range), 0x9e3779b1) ^ seed ^ hashed(stream)) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / range
  }
}

const hashed = (text: string): number => {
  let hash = 0
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0) ^ (hash >>> 15), 0x9e3779b1)
  return hash
}

/** Returns the random numbers of each name. Without a seed all of them come from the host. */
export type Chances = (stream: string) => Chance

/** The streams of a seed; each starts at its first use (CHANCE2). */
export const chancesOf = (seed: number | undefined): Chances => {
  if (seed === undefined) return () => hostChance
  const streams = new Map<string, Chance>()
  return (stream) => {
    let chance = streams.get(stream)
    if (chance === undefined) streams.set(stream, (chance = seededChance(seed, stream)))
    return chance
  }
}

const digits = "0123456789abcdef"

/** An id in the format of a random UUID. */
export const uuidBy = (chance: Chance): string =>
  "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replaceAll(/[xy]/g, (place) => {
    const digit = Math.floor(chance() * 16)
    return digits[place === "x" ? digit : (digit % 4) + 8] ?? "0"
  })
