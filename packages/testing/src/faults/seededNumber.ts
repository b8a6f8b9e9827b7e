/** Seeded random numbers by place: the same for the same seed and words, whatever other numbers are drawn. */

const prime = 0x01000193
const range = 2 ** 32

/** A number from 0 up to 1. */
export const chanceOf = (seed: number, ...words: ReadonlyArray<string | number>): number => {
  let hash = 0x811c9dc5
  for (const character of `${seed}/${words.join("/")}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), prime)
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / range
}
