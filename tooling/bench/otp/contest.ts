/** What every contestant of the bench does: the same lines, each with its own means. */

/** One line, made ready: only `run` is measured. */
export interface Round {
  readonly run: () => Promise<void> | void
  readonly end: () => Promise<void> | void
}

/** Makes ready to do a line's operation so many times. */
export type Line = (count: number) => Promise<Round> | Round

/** What one contestant does on every line. `waiting` and `idle` measure what their `run` makes and keeps. */
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

/** How many processes the last line spreads its messages over. */
export const many = 10_000

/** How many idle servers there are already on the line that tells of growth. */
export const crowd = 100_000

/** How many casts are sent before the sender waits until they were taken. */
export const burst = 1_000

/** The keys that are looked up. */
export const keys: ReadonlyArray<string> = Array.from({ length: 1_000 }, (_, index) => `key-${index}`)

/** So many things, made one after another. */
export const times = <A>(count: number, make: () => A): Array<A> => Array.from({ length: count }, make)

/** A line among so many things that another one makes and keeps. */
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

/** A wait that is over when `done` was called so many times. */
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
