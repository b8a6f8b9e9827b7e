/** Compares two lists in order. */

/** Elements without an equal partner; `undefined` when a list has none at this place. */
export interface Unequal<A> {
  /** The index in the actual list; for a missing element, the index it would have. */
  readonly at: number
  readonly required: A | undefined
  readonly got: A | undefined
}

/**
 * Pairs as many equal elements as their order allows, and returns the rest: elements between the same two pairs are compared
 * with each other. Takes time in the product of both lengths.
 */
export const align = <A>(
  required: ReadonlyArray<A>,
  got: ReadonlyArray<A>,
  same: (one: A, other: A) => boolean
): ReadonlyArray<Unequal<A>> => {
  const unequal: Array<Unequal<A>> = []
  let [row, column] = [0, 0]
  for (const [nextRow, nextColumn] of [...pairs(required, got, same), [required.length, got.length] as const]) {
    for (let at = 0; row + at < nextRow || column + at < nextColumn; at++) {
      unequal.push({
        at: Math.min(column + at, nextColumn),
        required: row + at < nextRow ? required[row + at] : undefined,
        got: column + at < nextColumn ? got[column + at] : undefined
      })
    }
    row = nextRow + 1
    column = nextColumn + 1
  }
  return unequal
}

/** The places of a longest common subsequence, in both lists. */
const pairs = <A>(
  required: ReadonlyArray<A>,
  got: ReadonlyArray<A>,
  same: (one: A, other: A) => boolean
): ReadonlyArray<readonly [row: number, column: number]> => {
  const lengths = Array.from({ length: required.length + 1 }, () =>
    Array.from<number>({ length: got.length + 1 }).fill(0)
  )
  const lengthAt = (row: number, column: number): number => lengths[row]?.[column] ?? 0
  const isPair = (row: number, column: number): boolean => same(required[row] as A, got[column] as A)
  for (let row = required.length - 1; row >= 0; row--) {
    for (let column = got.length - 1; column >= 0; column--) {
      const longest = isPair(row, column)
        ? lengthAt(row + 1, column + 1) + 1
        : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1))
      const line = lengths[row]
      if (line !== undefined) line[column] = longest
    }
  }
  const found: Array<readonly [number, number]> = []
  for (let [row, column] = [0, 0]; row < required.length && column < got.length;) {
    if (isPair(row, column)) found.push([row++, column++])
    else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row++
    else column++
  }
  return found
}
