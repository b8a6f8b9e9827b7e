/** The interface of the contestants: the same lines, each with its own implementation. */

/** One prepared line: only `run` is measured. */
export interface Round {
  readonly run: () => Promise<void> | void
  readonly end: () => Promise<void> | void
}

/** Prepares so many runs of a line's operation. */
export type Line = (count: number) => Promise<Round> | Round

/** A contestant's implementation of every line. `waiting` and `idle` measure the memory that their `run` keeps. */
export interface Contestant {
  readonly spawn: Line
  readonly start: Line
  readonly startAmong: Line
  readonly call: Line
  readonly cast: Line
  readonly stop: Line
  readonly supervisedStart: Line
  readonly restart: Line
  readonly lookup: Line
  readonly throughOne: Line
  readonly throughMany: Line
  readonly waiting: Line
  readonly idle: Line
}

/** The number of processes that share the messages of the last line. */
export const many = 10_000

/** The number of idle servers on the line that measures growth. */
export const crowd = 100_000

/** The number of casts before the sender waits for their receipt. */
export const burst = 1_000

/** The keys of lookups. */
export const keys: ReadonlyArray<string> = Array.from({ length: 1_000 }, (_, index) => `key-${index}`)

/** So many items, made one after another. */
export const times = <A>(count: number, make: () => A): Array<A> => Array.from({ length: count }, make)

/** A line that runs while another one's items are kept. */
export const among =
  (count: number, others: Line, line: Line): Line =>
  async (own) => {
    const around = await others(count)
    await around.run()
    const { run, end } = await line(own)
    return {
      run,
      end: async () => {
        await end()
        await around.end()
      }
    }
  }

/** A promise that resolves after so many calls of `done`. */
export const countdown = (count: number): { readonly done: () => void; readonly over: Promise<void> } => {
  let left = count
  let finish = (): void => {}
  const over = new Promise<void>((resolve) => (finish = resolve))
  const done = (): void => {
    left--
    if (left === 0) finish()
  }
  return { done, over }
}
