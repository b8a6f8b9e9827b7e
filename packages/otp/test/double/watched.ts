import { Effect } from "effect"
import { Process } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"

/** Tasks that take as long as their input says, and what is seen of them. */
export class Watched {
  readonly events: Array<string> = []
  readonly pids: Array<Pid> = []
  running = 0
  peak = 0

  readonly work = (ms: number, self: Pid): Effect.Effect<number> => {
    this.pids.push(self)
    this.peak = Math.max(this.peak, ++this.running)
    Process.onExit(self, () => this.running--)
    return Effect.sleep(ms).pipe(
      Effect.tap(() => Effect.sync(() => this.events.push(`done ${ms}`))),
      Effect.as(ms)
    )
  };

  *inputs(...times: ReadonlyArray<number>): Generator<number> {
    for (const ms of times) {
      this.events.push(`pulled ${ms}`)
      yield ms
    }
  }
}

/** Takes all results of a stream. */
export const take = async <A>(stream: AsyncIterable<A>, seen: Array<A> = []): Promise<Array<A>> => {
  for await (const result of stream) seen.push(result)
  return seen
}
