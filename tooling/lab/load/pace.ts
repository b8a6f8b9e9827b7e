/**
 * Words at a fixed pace, for any number of streams. Both servers use it, so the source of the words makes no difference.
 *
 * Each word has its index and its time, on a clock that all processes of the computer share: `@3:1234567@`.
 */
import { setTimeout } from "node:timers/promises"

/** Now, in microseconds, on a clock that all processes of the computer share. */
export const nowMicros = (): number => Number(process.hrtime.bigint() / 1_000n)

const filler = " the quick brown fox jumps over it"

/** When a stream is later than this, its next words keep their distance from then on instead of coming all at once. */
const latestMs = 1_000

export type Pace = ReturnType<typeof paceOf>

/** Feeds streams, each with so many words a second from its start. */
export const paceOf = (wordsPerSecond: number) => {
  const pace = {
    /** The number of streams that are being read, and of those that were started. */
    open: 0,
    begun: 0,
    isOver: false,
    /** Ends all streams after their next word. */
    end: (): void => void (pace.isOver = true),
    /** The words of one stream. */
    async *words(count: number): AsyncGenerator<string, void> {
      pace.open += 1
      pace.begun += 1
      let due = performance.now()
      try {
        for (let word = 0; word < count && !pace.isOver; word++) {
          const now = performance.now()
          due = now - due > latestMs ? now : due + 1_000 / wordsPerSecond
          if (due > now) await setTimeout(due - now)
          yield `@${word}:${nowMicros()}@${filler}`
        }
      } finally {
        pace.open -= 1
      }
    }
  }
  return pace
}
