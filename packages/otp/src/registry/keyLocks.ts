/**
 * Sections of code that run one after another for equal keys.
 *
 * LOCK1. At most one section of a key runs; waiting sections run in order of arrival.
 * LOCK2. A section ends when it has settled or its process is dead. If its process dies while it waits, it never runs.
 * LOCK3. A key without a holder and without waiting sections uses no memory.
 */
import type { Cell } from "../kernel/index.ts"
import { placeOf } from "../core/index.ts"

/** One section, from its request to its end. */
interface Turn {
  readonly enter: () => void
}

export class KeyLocks {
  readonly #queues = new Map<unknown, Array<Turn>>()

  get size(): number {
    return this.#queues.size
  }

  /** Runs a section of a process when its turn comes. */
  run<A>(key: unknown, owner: Cell, section: () => A | Promise<A>): Promise<A> {
    const place = placeOf(key)
    return new Promise((resolve, reject) => {
      if (owner.dead) return
      const entered = async (): Promise<void> => {
        try {
          resolve(await owner.kernel.as(owner, section))
        } catch (error) {
          reject(error)
        } finally {
          leave()
        }
      }
      const turn: Turn = { enter: () => void entered() }
      const watcher = { down: () => this.#leave(place, turn) }
      const leave = (): void => {
        owner.watchers?.delete(watcher)
        this.#leave(place, turn)
      }
      owner.watch(watcher)
      const queue = this.#queues.get(place)
      if (queue !== undefined) return void queue.push(turn)
      this.#queues.set(place, [turn])
      turn.enter()
    })
  }

  #leave(place: unknown, turn: Turn): void {
    const queue = this.#queues.get(place)
    const index = queue?.indexOf(turn) ?? -1
    if (queue === undefined || index === -1) return
    queue.splice(index, 1)
    if (queue.length === 0) this.#queues.delete(place)
    else if (index === 0) queue[0]?.enter()
  }
}
