/** The log of the streams of one case: inputs pulled, tasks run, results consumed. */
import type { Json } from "../runner/json.ts"

export class StreamLog {
  readonly pulled: Array<Json> = []
  readonly started: Array<Json> = []
  readonly completed: Array<Json> = []
  /** The steps of the consumer and of the inputs, in one order. */
  readonly interleaved: Array<Json> = []
  peak = 0
  #running = 0

  pull(id: Json): void {
    this.pulled.push(id)
    this.interleaved.push(["pulled", id])
  }

  start(id: Json): void {
    this.started.push(id)
    this.#running++
    this.peak = Math.max(this.peak, this.#running)
  }

  end(): void {
    this.#running--
  }
}
