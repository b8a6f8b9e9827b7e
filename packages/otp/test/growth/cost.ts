/** Something to measure: `run` is what counts. */
export interface Measured {
  readonly run: () => Promise<void> | void
  /** Puts back what `run` changed; does not count. */
  readonly undo?: () => Promise<void> | void
}

const timeOf = async ({ run, undo }: Measured): Promise<number> => {
  const start = performance.now()
  await run()
  const time = performance.now() - start
  await undo?.()
  return time
}

/** How many times dearer one thing is than another: the best of some rounds, in which they take turns. */
export const dearer = async (rounds: number, large: Measured, small: Measured): Promise<number> => {
  let [most, least] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < rounds; round++) {
    least = Math.min(least, await timeOf(small))
    most = Math.min(most, await timeOf(large))
  }
  return most / least
}
