/**
 * Detects growth of the heap.
 *
 * LAB23. The heap is flat: in the later half of the time it is on average less than a twentieth larger than in the earlier half.
 */

const fewest = 40
/** Growth below this part of the heap counts as noise: the heap varies that much by itself. */
const breath = 0.05

const mean = (sizes: ReadonlyArray<number>): number => sizes.reduce((sum, size) => sum + size, 0) / sizes.length

/**
 * The mean sizes in both halves of samples, each after a collection, without the first fifth, during which code is still compiled;
 * `undefined` when there are too few.
 */
export const heapOf = (sizes: ReadonlyArray<number>) => {
  const settled = sizes.slice(Math.ceil(sizes.length / 5))
  if (settled.length < fewest) return undefined
  const middle = settled.length / 2
  const [earlier, later] = [mean(settled.slice(0, middle)), mean(settled.slice(middle))]
  return { samples: settled.length, earlier, later, isFlat: later < earlier * (1 + breath) }
}
