/**
 * The awaits of one program: each is a point that a driver lets go on, fail, answer late, or leaves without an answer.
 *
 * Owns: the awaits of the program that have no answer. Does not own what happens at a point, nor the order in which points go on.
 */
import type { SessionStore } from "../../src/store/sessionStore.ts"

/** An await without an answer. */
export interface Point {
  readonly name: string
  /** Does what is awaited, and answers. */
  readonly goOn: () => void
  /** Answers with an error; nothing was done. */
  readonly fail: () => void
  /** Answers with an error, although it was done. */
  readonly lose: () => void
}

const writes = new Set(["append", "accept", "accept again", "keepDraft"])

/** Whether the point changes what the store has. */
const isWrite = ({ name }: Point): boolean => writes.has(name)

/** Whether the point waits for the store to write or to load. */
export const isOfStore = ({ name }: Point): boolean => writes.has(name) || name === "load" || name === "accept unnamed"

export class Points {
  /** The points that nobody has decided about. */
  waiting: ReadonlyArray<Point> = []
  /** The points that answer late, or never. */
  asleep: ReadonlyArray<Point> = []
  #isOver = false

  /** Resolves with the result of `act` as the driver decides; never after the end of the program. */
  at<A>(name: string, act: () => A | Promise<A>): Promise<A> {
    const { promise, resolve, reject } = Promise.withResolvers<A>()
    const attempt = (answer: (done: A | Promise<A>) => void): void => {
      try {
        const done = act()
        if (!this.#isOver) answer(done)
      } catch (error) {
        if (!this.#isOver) reject(error)
      }
    }
    const fail = (): void => reject(new Error(`${name} failed`))
    const point = { name, goOn: () => attempt(resolve), fail, lose: () => attempt(fail) }
    if (!this.#isOver) this.waiting = [...this.waiting, point]
    return promise
  }

  /** Takes a point off its list, whichever it is on. */
  take(point: Point): Point {
    const isOther = (other: Point): boolean => other !== point
    this.waiting = this.waiting.filter(isOther)
    this.asleep = this.asleep.filter(isOther)
    return point
  }

  /** The point answers late, or never. */
  sleep(point: Point): void {
    this.asleep = [...this.asleep, point]
  }

  /** Ends the program: no point answers any more. Returns the writes on their way, which the store may still get. */
  end(): ReadonlyArray<Point> {
    const left = [...this.waiting, ...this.asleep].filter(isWrite)
    this.#isOver = true
    this.waiting = []
    this.asleep = []
    return left
  }

  /** The store; each of its operations is a point, except those that it does at once. A second `accept` of an input is `accept again`; that of one without a name is `accept unnamed`. */
  store(store: SessionStore, isAtOnce: () => boolean): SessionStore {
    const accepted = new Set<string>()
    const operation =
      (verb: string, call: (...args: ReadonlyArray<unknown>) => unknown) =>
      (...args: ReadonlyArray<unknown>): unknown => {
        const input = verb === "accept" ? (args[1] as { readonly id: string; readonly named?: boolean }) : undefined
        const again = input !== undefined && accepted.has(input.id) ? "accept again" : verb
        const name = input === undefined || input.named === true ? again : "accept unnamed"
        if (input !== undefined) accepted.add(input.id)
        const act = (): unknown => Reflect.apply(call, store, args)
        return !this.#isOver && isAtOnce() ? act() : this.at(name, act)
      }
    const operations = Object.entries(store).map(([verb, value]: [string, unknown]) => [
      verb,
      typeof value === "function" ? operation(verb, value as (...args: ReadonlyArray<unknown>) => unknown) : value
    ])
    return Object.fromEntries(operations) as SessionStore
  }
}
