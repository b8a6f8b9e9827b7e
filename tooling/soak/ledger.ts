/** The counts of a soak, and the equations between them. */

/** An equation that must hold at the end. */
export interface Equation {
  readonly title: string
  readonly left: number
  readonly right: number
  /** The text of the right side, if it is a sum. */
  readonly shown: string
}

/** Counts by name; a missing count is 0. */
export class Ledger {
  readonly #counts = new Map<string, number>()

  add(name: string, count = 1): void {
    this.#counts.set(name, this.get(name) + count)
  }

  get(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  /** All counts, sorted by name. */
  get all(): ReadonlyArray<readonly [name: string, count: number]> {
    return [...this.#counts].toSorted(([one], [other]) => (one < other ? -1 : 1))
  }

  /** `left` is the sum of the counts of `parts`. */
  sum(title: string, left: string, parts: Readonly<Record<string, number>>): Equation {
    const right = Object.values(parts).reduce((total, part) => total + part, 0)
    const shown = Object.entries(parts).map(([name, part]) => `${name} ${part}`)
    return { title, left: this.get(left), right, shown: shown.join(" + ") }
  }
}

/** An equation with a fixed number. */
export const is = (title: string, seen: number, expected: number): Equation => ({
  title,
  left: seen,
  right: expected,
  shown: `${expected}`
})

export const holds = ({ left, right }: Equation): boolean => left === right
