import { expect, test } from "vitest"
import { BoundedChannel, Process, System } from "../../src/index.ts"
import { hop } from "../double/hop.ts"

const bounded = (bound: number) => new BoundedChannel.BoundedChannel<number>({ bound })
const taken = async (
  channel: BoundedChannel.BoundedChannel<number>,
  count: number
): Promise<ReadonlyArray<unknown>> => {
  const values: Array<unknown> = []
  for (let read = 0; read < count; read++) values.push((await channel.next()).value)
  return values
}

test("BOUND1 put waits while the bound is unread, and waiting writes are taken in their order", async () => {
  const channel = bounded(2)
  const done: Array<number> = []
  const writes = [1, 2, 3, 4].map((n) => channel.put(n).then(() => done.push(n)))
  await hop()
  expect([done, channel.unread]).toEqual([[1, 2], 2])
  expect(await taken(channel, 1)).toEqual([1])
  await hop()
  expect([done, channel.unread]).toEqual([[1, 2, 3], 2])
  expect(await taken(channel, 3)).toEqual([2, 3, 4])
  await Promise.all(writes)
  expect(done).toEqual([1, 2, 3, 4])
})

test("BOUND1 a read that waits gets the next write at once", async () => {
  const channel = bounded(1)
  const reads = taken(channel, 2)
  expect([await channel.put(1), await channel.put(2)]).toEqual([true, true])
  expect(await reads).toEqual([1, 2])
})

test.each([
  ["ends", (channel: BoundedChannel.BoundedChannel<number>) => channel.end(), [1]],
  ["fails", (channel: BoundedChannel.BoundedChannel<number>) => channel.fail("broken"), [1]],
  ["is left by its reader", (channel: BoundedChannel.BoundedChannel<number>) => void channel.return(), [undefined]]
])("BOUND1 when the channel %s, the waiting writes resolve with false", async (_, over, left) => {
  const channel = bounded(1)
  const writes = [channel.put(1), channel.put(2), channel.put(3)]
  over(channel)
  expect(await Promise.all([...writes, channel.put(4)])).toEqual([true, false, false, false])
  expect(await taken(channel, 1)).toEqual(left)
})

test("BOUND2 demand is for what there is room for, and comes again when half of it is read", async () => {
  const asked: Array<number> = []
  const channel = new BoundedChannel.BoundedChannel<number>({ bound: 4, onDemand: (count) => asked.push(count) })
  expect(asked).toEqual([])
  const first = channel.next()
  expect(asked).toEqual([4])
  for (const n of [1, 2, 3, 4]) channel.push(n)
  expect([await first, channel.unread]).toEqual([{ done: false, value: 1 }, 3])
  expect([await taken(channel, 1), asked]).toEqual([[2], [4, 2]])
  expect([await taken(channel, 2), asked]).toEqual([
    [3, 4],
    [4, 2, 2]
  ])
})

test("BOUND2 a producer that pushes what it is asked for keeps the bound, whoever reads", async () => {
  let made = 0
  let most = 0
  const channel: BoundedChannel.BoundedChannel<number> = new BoundedChannel.BoundedChannel({
    bound: 3,
    onDemand: (count) => {
      for (let n = 0; n < count; n++) channel.push(++made)
      most = Math.max(most, channel.unread)
    }
  })
  const readers = await Promise.all([taken(channel, 50), taken(channel, 50)])
  expect(readers.flat().toSorted((one, other) => Number(one) - Number(other))).toEqual(
    Array.from({ length: 100 }, (_, n) => n + 1)
  )
  expect([most <= 3, made <= 103]).toEqual([true, true])
})

test("BOUND3 a reader that leaves ends its own reads only, and the last one closes the channel", async () => {
  const channel = bounded(1)
  const [one, other] = [channel[Symbol.asyncIterator](), channel[Symbol.asyncIterator]()]
  const [lost, kept] = [one.next(), other.next()]
  await one.return()
  expect([await lost, await one.next()]).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined }
  ])
  expect([await channel.put(1), await kept]).toEqual([true, { done: false, value: 1 }])
  expect([await channel.put(2), await other.next(), channel.isOver]).toEqual([true, { done: false, value: 2 }, false])
  await one.return()
  expect(channel.isOver).toBe(false)
  await other.return()
  expect([channel.isOver, await channel.put(3)]).toEqual([true, false])
})

test("BOUND3 when a stage crashes, the producer and the other readers go on", async () => {
  const system = System.make()
  const channel = bounded(2)
  const seen: Array<number> = []
  const reading = (run: (n: number) => void) => {
    const reader = channel[Symbol.asyncIterator]()
    const stage = Process.spawn(system, async () => {
      for await (const n of reader) run(n)
    })
    Process.onExit(stage, () => void reader.return())
    return stage
  }
  const crashing = reading(() => {})
  reading((n) => seen.push(n))
  await hop()
  Process.kill(crashing)
  for (let n = 1; n <= 5; n++) expect(await channel.put(n)).toBe(true)
  await hop()
  expect([seen, channel.isOver]).toEqual([[1, 2, 3, 4, 5], false])
  await System.stop(system)
  expect(channel.isOver).toBe(true)
})

test("BOUND2 a demand that rejects fails the channel", async () => {
  const channel = new BoundedChannel.BoundedChannel<number>({
    bound: 1,
    onDemand: () => Promise.reject(new Error("no source"))
  })
  await expect(channel.next()).rejects.toThrow("no source")
  expect(channel.isOver).toBe(true)
})

test("CHAN4 a demand that throws fails the channel, and a bound below 1 is refused", async () => {
  const channel = new BoundedChannel.BoundedChannel<number>({
    bound: 1,
    onDemand: () => {
      throw new Error("empty")
    }
  })
  await expect(channel.next()).rejects.toThrow("empty")
  for (const bound of [0, -1, 1.5, Number.NaN]) expect(() => bounded(bound)).toThrow(RangeError)
})
