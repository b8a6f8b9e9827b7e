/** Median wall and CPU time of a few rounds. */

export interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
}

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const collect = (): void => (globalThis as { readonly gc?: () => void }).gc?.()

/** Runs `round` once to warm up, then `rounds` times. */
export const measure = async (rounds: number, round: () => Promise<void>): Promise<Cost> => {
  await round()
  const costs: Array<Cost> = []
  for (let done = 0; done < rounds; done++) {
    collect()
    const cpu = process.cpuUsage()
    const start = performance.now()
    await round()
    const wallMs = performance.now() - start
    const { user, system } = process.cpuUsage(cpu)
    costs.push({ wallMs, cpuMs: (user + system) / 1_000 })
  }
  return { wallMs: median(costs.map((cost) => cost.wallMs)), cpuMs: median(costs.map((cost) => cost.cpuMs)) }
}
