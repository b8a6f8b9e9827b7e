/**
 * Detects growth of the heap.
 *
 * LAB23. The heap is flat: in the later half of the time it is on average less than a twentieth larger than in the earlier half.
 */

/** The mean sizes in both halves, in bytes, without the first fifth of the samples, during which code is still compiled. */
export interface Heap {
  readonly samples: number
  readonly earlier: number
  readonly later: number
  readonly isFlat: boolean
}

const fewest = 40
/** Growth below this part of the heap counts as noise: the heap varies that much by itself. */
const breath = 0.05

const mean = (sizes: ReadonlyArray<number>): number => sizes.reduce((sum, size) => sum + size, 0) / sizes.length

/** Compares the halves of samples, each after a collection; `undefined` when there are too few. */
export const heapOf = (sizes: ReadonlyArray<number>): Heap | undefined => {
  const settled = sizes.slice(Math.ceil(sizes.length / 5))
  if (settled.length < fewest) return undefined
  const middle = settled.length / 2
  const [earlier, later] = [mean(settled.slice(0, middle)), mean(settled.slice(middle))]
  return { samples: settled.length, earlier, later, isFlat: later < earlier * (1 + breath) }
}
