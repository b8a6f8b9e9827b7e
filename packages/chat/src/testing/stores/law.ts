/** What a conformance suite is made of: a law, and how it is looked at. */

/**
 * One law of a port: its title, and what looks whether an implementation keeps it.
 *
 * **Contract** of `check`: resolves when the law holds, rejects with what was seen when it does not.
 */
export interface Law {
  readonly title: string
  readonly check: () => Promise<void>
}

/** A law, told by what must be true at its end. */
export const law = (title: string, check: () => void | Promise<void>): Law => ({
  title,
  check: async () => {
    await check()
  }
})

/** Throws what was seen, unless it is what was wanted. */
export const holds = (held: boolean, seen: () => string): void => {
  if (!held) throw new Error(seen())
}
