/**
 * The checks of a program when all is quiet.
 *
 * LAB18. What was begun is over: every turn, stream, verb, subscription, handler and process ends once.
 * LAB19. Nothing is left: no process, fiber, timer, stream, request, socket, thread or child process.
 * LAB20. Every handler that outlives its call has been aborted, and is listed as a zombie until it comes late.
 * LAB22. All acts are drawn from the seed; on a test clock they repeat exactly.
 */

/** Counts by name; a missing count is 0. */
export class Counts {
  readonly #counts = new Map<string, number>()
  readonly #begun = new Set<string>()

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

  begin(name: string): void {
    this.#begun.add(name)
    this.add(name)
  }

  end(name: string): void {
    this.add(`${name} over`)
  }

  /** Counts some work as begun, and as over when it settles. */
  async during<A>(name: string, work: () => Promise<A>): Promise<A> {
    this.begin(name)
    try {
      return await work()
    } finally {
      this.end(name)
    }
  }

  /** LAB18 */
  get wrong(): ReadonlyArray<string> {
    return [...this.#begun].flatMap((name) => {
      const [begun, over] = [this.get(name), this.get(`${name} over`)]
      return begun === over ? [] : [`LAB18: of ${begun} ${name} ${over} are over`]
    })
  }
}

/** LAB19 */
export const wrongLeft = (left: Readonly<Record<string, number>>): ReadonlyArray<string> =>
  Object.entries(left).flatMap(([name, count]) => (count === 0 ? [] : [`LAB19: ${count} ${name} are left`]))

/** LAB20: of the handlers that outlived their calls so many run, and so many are listed and aborted. */
export const wrongZombies = (open: number, listed: number, aborted: number): ReadonlyArray<string> =>
  open === listed && open === aborted
    ? []
    : [`LAB20: of ${open} handlers that outlived their calls ${listed} are listed and ${aborted} aborted`]

/** LAB20: so many came late or are listed, of so many that were seen to come late or to run. */
export const wrongLate = (late: number, listed: number, seen: number): ReadonlyArray<string> =>
  late + listed === seen ? [] : [`LAB20: ${late} zombies came late and ${listed} are listed, of ${seen}`]

/** LAB22 */
export const wrongRepeat = (once: Counts, again: Counts): ReadonlyArray<string> =>
  [...new Set([...once.all, ...again.all].map(([name]) => name))].flatMap((name) =>
    once.get(name) === again.get(name)
      ? []
      : [`LAB22: ${again.get(name)} ${name} at the second time, instead of ${once.get(name)}`]
  )
