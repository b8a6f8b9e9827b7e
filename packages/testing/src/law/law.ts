/** The parts of a conformance suite: a law, and its check. */

/**
 * One law of a port: its title, and the check that an implementation keeps it.
 *
 * **Contract** of `check`: resolves when the law holds, rejects with the observed value when it does not.
 */
export interface Law {
  readonly title: string
  readonly check: () => Promise<void>
}

/** Makes a law from a check that throws or rejects when the law does not hold. */
export const law = (title: string, check: () => void | Promise<void>): Law => ({
  title,
  check: async () => {
    await check()
  }
})

/** Throws an error with the text of `seen` unless `held` is true. */
export const holds = (condition: boolean, seen: () => string): void => {
  if (!condition) throw new Error(seen())
}
