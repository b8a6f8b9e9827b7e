import host from "node:process"

/** Something to measure: `run` is what counts. */
export interface Measured {
  readonly run: () => Promise<void> | void
  /** Puts back what `run` changed; does not count. */
  readonly undo?: () => Promise<void> | void
}

/** Milliseconds of the processor that this process has had: what others on the machine take of it does not count. */
const processorMs = (): number => {
  const { user, system } = host.cpuUsage()
  return (user + system) / 1_000
}

const costOf = async ({ run, undo }: Measured): Promise<number> => {
  const began = processorMs()
  await run()
  const cost = processorMs() - began
  await undo?.()
  return cost
}

/** How many times dearer one thing is than another: the best of some rounds, in which they take turns. */
export const dearer = async (rounds: number, large: Measured, small: Measured): Promise<number> => {
  let [most, least] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < rounds; round++) {
    least = Math.min(least, await costOf(small))
    most = Math.min(most, await costOf(large))
  }
  return most / least
}
