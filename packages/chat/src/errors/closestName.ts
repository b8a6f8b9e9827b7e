/** Finds the known name that is closest to a misspelled name (fuzzy matching). */

const alike = 0.75

/** Longer names are never matched: no tool name is that long. */
const longest = 128

/** The most similar name, if its similarity is at least `alike`; case-insensitive. */
export const closestName = (name: string, names: Iterable<string>): string | undefined => {
  if (name.length > longest) return undefined
  let closest: string | undefined
  let best = alike
  for (const candidate of names) {
    const likeness = jaro(name.toLowerCase(), candidate.toLowerCase())
    if (likeness < best || (likeness === best && closest !== undefined)) continue
    closest = candidate
    best = likeness
  }
  return closest
}

/** The Jaro similarity of two texts: 1 for equal texts, 0 for no common letter near its place. */
const jaro = (left: string, right: string): number => {
  if (left === right) return 1
  const near = Math.max(0, Math.floor(Math.max(left.length, right.length) / 2) - 1)
  const indexes = new Set<number>()
  const common: Array<string> = []
  for (let at = 0; at < left.length; at++) {
    for (let other = Math.max(0, at - near); other <= Math.min(right.length - 1, at + near); other++) {
      if (indexes.has(other) || left[at] !== right[other]) continue
      indexes.add(other)
      common.push(right[other] ?? "")
      break
    }
  }
  if (common.length === 0) return 0
  const inOrder = [...indexes].toSorted((a, b) => a - b).map((at) => right[at])
  const swapped = common.filter((letter, at) => letter !== inOrder[at]).length / 2
  const count = common.length
  return (count / left.length + count / right.length + (count - swapped) / count) / 3
}
