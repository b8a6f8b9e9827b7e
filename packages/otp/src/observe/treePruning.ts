/**
 * Which part of a large tree is shown.
 *
 * CUT1. With room for all, all are shown.
 * CUT2. Never more are shown than there is room for, and none without the one above it.
 * CUT3. Of siblings each gets room while there is enough, small subtrees all they need, the large ones share the rest. Where
 *       there are more siblings than room, those with the largest subtrees are shown, and of equals the youngest.
 */

/** With more siblings than room, none takes more than this part of it. */
const smallestPart = 8

/** How much room each of some siblings gets, in their order, by the sizes of their subtrees. */
export const sharesOf = (sizes: ReadonlyArray<number>, room: number): ReadonlyArray<number> => {
  const shares = sizes.map(() => 0)
  let left = room
  if (sizes.length > room) {
    const most = Math.ceil(room / smallestPart)
    for (const [index, size] of bySize(sizes).toReversed()) {
      if (left === 0) break
      shares[index] = Math.min(size, most, left)
      left -= shares[index]
    }
    return shares
  }
  let waiting = sizes.length
  for (const [index, size] of bySize(sizes)) {
    const share = Math.min(size, Math.floor(left / waiting))
    shares[index] = share
    left -= share
    waiting--
  }
  return shares
}

const bySize = (sizes: ReadonlyArray<number>): ReadonlyArray<readonly [index: number, size: number]> =>
  sizes.map((size, index) => [index, size] as const).toSorted(([, a], [, b]) => a - b)
