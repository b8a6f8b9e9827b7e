/**
 * The choice of the displayed part of a large tree.
 *
 * CUT1. With room for all processes, all are shown.
 * CUT2. At most `room` processes are shown, and none without its parent.
 * CUT3. While there is enough room, each sibling gets some: small subtrees as much as they need, large ones share the
 *       rest. With more siblings than room, the largest subtrees are shown, and of equal ones the youngest.
 */

/** With more siblings than room, each takes at most this fraction of it. */
const smallestPart = 8

/** The room of each sibling, in order, from the sizes of their subtrees. */
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
