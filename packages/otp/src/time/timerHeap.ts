/**
 * Timers ordered by their due time.
 *
 * Owns the waiting entries. It does not read a clock and starts no host timers.
 *
 * HEAP1. The first of `entries` is due first; of two with the same due time, the one that was added first.
 * HEAP2. A removed entry leaves the heap at once, without a tombstone.
 */

/** One waiting timer. `index` is its place in the heap, -1 after its removal. */
export interface TimerEntry {
  readonly due: number
  readonly order: number
  readonly run: () => void
  index: number
}

const before = (a: TimerEntry, b: TimerEntry): boolean => a.due < b.due || (a.due === b.due && a.order < b.order)

export class TimerHeap {
  readonly #entries: Array<TimerEntry> = []
  readonly entries: ReadonlyArray<TimerEntry> = this.#entries
  #order = 0

  add(due: number, run: () => void): TimerEntry {
    const entry: TimerEntry = { due, order: this.#order++, run, index: this.#entries.length }
    this.#entries.push(entry)
    if (entry.index > 0) this.#rise(entry)
    return entry
  }

  remove(entry: TimerEntry): void {
    const { index } = entry
    if (index < 0) return
    entry.index = -1
    const last = this.#entries.pop()
    if (last === undefined || last === entry) return
    this.#place(last, index)
    this.#rise(last)
    this.#sink(last)
  }

  #place(entry: TimerEntry, index: number): void {
    this.#entries[index] = entry
    entry.index = index
  }

  #rise(entry: TimerEntry): void {
    while (entry.index > 0) {
      const index = entry.index
      const above = this.#entries[(index - 1) >> 1]
      if (above === undefined || !before(entry, above)) return
      this.#place(entry, above.index)
      this.#place(above, index)
    }
  }

  #sink(entry: TimerEntry): void {
    for (;;) {
      const index = entry.index
      const left = this.#entries[index * 2 + 1]
      const right = this.#entries[index * 2 + 2]
      const least = right !== undefined && left !== undefined && before(right, left) ? right : left
      if (least === undefined || !before(least, entry)) return
      this.#place(entry, least.index)
      this.#place(least, index)
    }
  }
}
