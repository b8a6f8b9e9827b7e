/**
 * Where a system's random numbers come from: the host, or a seed.
 *
 * CHANCE1. The numbers of a seed are the same, in the same order, on every host.
 * CHANCE2. A seed has a stream of numbers for each name; what is drawn from one moves no other.
 */

/** Gives numbers from 0 up to 1. */
export type Chance = () => number

const range = 2 ** 32

/** The host's: nobody can tell the next one. */
const hostChance: Chance = () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / range

/** Those of a stream of a seed, by the generator mulberry32 (CHANCE1). */
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

/** Gives the chance of each name; without a seed they are all the host's. */
export type Chances = (stream: string) => Chance

/** The streams of a seed, each begun when it is first asked for (CHANCE2). */
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

/** An id in the form of a random UUID. */
export const uuidBy = (chance: Chance): string =>
  "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replaceAll(/[xy]/g, (place) => {
    const digit = Math.floor(chance() * 16)
    return digits[place === "x" ? digit : (digit % 4) + 8] ?? "0"
  })
