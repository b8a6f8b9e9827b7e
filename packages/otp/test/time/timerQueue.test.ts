import { expect, test } from "vitest"
import { chancesOf } from "../../src/time/seededRandom.ts"
import { TimerQueue, type WaitingTimer } from "../../src/time/timerQueue.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

test("HEAP1, HEAP2 when timers of many delays are added, removed and taken, the first is that of a sorted list", () => {
  for (const seed of seedsOf(200)) {
    const random = chancesOf(seed + 1)("timers")
    const below = (most: number): number => Math.floor(random() * most)
    const queue = new TimerQueue()
    let waiting: Array<WaitingTimer> = []
    let now = 0
    const take = (timer: WaitingTimer | undefined): void => {
      if (timer === undefined) return
      queue.remove(timer)
      queue.remove(timer)
      waiting = waiting.filter((other) => other !== timer)
    }
    for (let step = 0; step < 300; step++) {
      now += below(3)
      const chance = below(10)
      if (chance < 5) waiting.push(queue.add(now, [0, 1, 2, 5, 5, 60, 0.5, Infinity][below(8)] ?? 0, () => {}))
      else if (chance < 8) take(waiting[below(waiting.length)])
      else take(queue.first)
      const sorted = waiting.toSorted((one, other) =>
        one.due === other.due ? one.order - other.order : one.due - other.due
      )
      expect(queue.first).toBe(sorted[0])
      expect(queue.size).toBe(sorted.length)
    }
  }
})
