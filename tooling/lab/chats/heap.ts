/**
 * Detects growth of the heap: fits a line to its size over time.
 *
 * LAB23. The heap is flat: the line rises by at most three of its standard errors, or by less than a tenth of the heap.
 */

/** One sample of the heap, after a collection. */
export interface HeapSample {
  readonly atMs: number
  readonly bytes: number
}

/** The line through the samples, without the first fifth, during which code is still compiled. */
export interface HeapFit {
  readonly samples: number
  /** Bytes a minute, and the standard error of the slope. */
  readonly slope: number
  readonly error: number
  /** The growth of the line over its length. */
  readonly growth: number
  readonly flat: boolean
}

const fewest = 40
const minuteMs = 60_000
/** Growth below this part of the heap counts as noise: the heap varies that much by itself. */
const breath = 0.1

/** The fit; `undefined` when there are too few samples. */
export const fitOf = (samples: ReadonlyArray<HeapSample>): HeapFit | undefined => {
  const settled = samples.slice(Math.ceil(samples.length / 5))
  const first = settled[0]
  const last = settled.at(-1)
  if (settled.length < fewest || first === undefined || last === undefined) return undefined
  const mean = (of: (sample: HeapSample) => number): number =>
    settled.reduce((total, sample) => total + of(sample), 0) / settled.length
  const [at, bytes] = [mean(({ atMs }) => atMs), mean((sample) => sample.bytes)]
  const spread = mean(({ atMs }) => (atMs - at) ** 2)
  const slope = mean((sample) => (sample.atMs - at) * (sample.bytes - bytes)) / spread
  const rest = mean((sample) => (sample.bytes - bytes - slope * (sample.atMs - at)) ** 2)
  const error = Math.sqrt(rest / spread / (settled.length - 2))
  const growth = slope * (last.atMs - first.atMs)
  return {
    samples: settled.length,
    slope: slope * minuteMs,
    error: error * minuteMs,
    growth,
    flat: slope <= 3 * error || growth < breath * bytes
  }
}

/** The fit as a line of text. */
export const heapLine = ({ samples, slope, error, growth, flat }: HeapFit): string => {
  const kb = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KB`
  return `heap ${flat ? "flat" : "GROWS"}: ${kb(slope)} a minute ± ${kb(error)}, ${kb(growth)} over ${samples} samples after collection`
}
