import { expect, test } from "vitest"
import { Channel, Fifo } from "../../src/channel/Channel.ts"
import { Dice } from "../properties/dice.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

const end = { done: true, value: undefined }
const item = (value: string) => ({ done: false, value })

/** Joins words that begin with the same letter. */
const join = (unread: string, word: string): string | undefined => (unread[0] === word[0] ? unread + word : undefined)

test("CHAN1 items are read in the order of their push, each once", async () => {
  const channel = new Channel<string>()
  channel.push("a")
  channel.push("b")
  expect(channel.unread).toBe(2)
  expect([await channel.next(), await channel.next()]).toEqual([item("a"), item("b")])
  const late = channel.next()
  channel.push("c")
  expect([await late, channel.unread]).toEqual([item("c"), 0])
})

test("CHAN1 reads that wait are answered in their order, and nothing is kept for them", async () => {
  const channel = new Channel<string>()
  const reads = [channel.next(), channel.next(), channel.next()]
  expect(channel.isAwaited).toBe(true)
  for (const word of ["a", "b", "c", "d"]) channel.push(word)
  expect([channel.isAwaited, channel.unread]).toEqual([false, 1])
  expect(await Promise.all(reads)).toEqual(["a", "b", "c"].map(item))
})

test("CHAN3 unread items are joined with the newest one only", async () => {
  const channel = new Channel<string>({ join })
  for (const word of ["a1", "a2", "b1", "a3", "a4"]) channel.push(word)
  channel.end()
  const read: Array<string> = []
  for await (const word of channel) read.push(word)
  expect(read).toEqual(["a1a2", "b1", "a3a4"])
})

test("CHAN3 an item that was read is not joined", async () => {
  const channel = new Channel<string>({ join })
  const first = channel.next()
  channel.push("a1")
  channel.push("a2")
  expect([await first, await channel.next()]).toEqual([item("a1"), item("a2")])
  channel.push("a3")
  expect(await channel.next()).toEqual(item("a3"))
})

test("CHAN4 a kept item is read without a wait, and further reads wait in their order", async () => {
  const channel = new Channel<string>()
  channel.push("a")
  const reads = [channel.next(), channel.next(), channel.next()]
  expect([channel.unread, channel.isAwaited]).toEqual([0, true])
  const none = "nothing yet"
  expect(await Promise.race([reads[0], Promise.resolve(none)])).toEqual(item("a"))
  expect(await Promise.race([reads[1], Promise.resolve(none)])).toBe(none)
  channel.push("b")
  channel.end()
  expect(await Promise.all(reads.slice(1))).toEqual([item("b"), end])
})

test("CHAN4 the producer is called when a read waits, and not for a kept item", async () => {
  let demands = 0
  const channel: Channel<string> = new Channel({
    onDemand: () => {
      demands++
      if (demands === 2) for (const word of ["a", "b"]) channel.push(word)
    }
  })
  const first = channel.next()
  expect(demands).toBe(1)
  channel.push("0")
  expect([await first, await channel.next(), await channel.next()]).toEqual([item("0"), item("a"), item("b")])
  expect(demands).toBe(2)
})

test("CHAN4 while the producer is called, the read counts as awaited until an item is pushed", async () => {
  const awaited: Array<boolean> = []
  const channel: Channel<string> = new Channel({
    onDemand: () => {
      awaited.push(channel.isAwaited)
      while (channel.isAwaited) channel.push("a")
      awaited.push(channel.isAwaited)
    }
  })
  expect(await channel.next()).toEqual(item("a"))
  expect([awaited, channel.unread, channel.isAwaited]).toEqual([[true, false], 0, false])
})

test("CHAN4 a producer that ends the channel at once answers the read with the end", async () => {
  const awaited: Array<boolean> = []
  const channel: Channel<string> = new Channel({
    onDemand: () => {
      channel.end()
      awaited.push(channel.isAwaited)
    }
  })
  expect([await channel.next(), awaited]).toEqual([end, [false]])
})

test("CHAN4 when the producer throws, then the read rejects, and the channel is over", async () => {
  const channel = new Channel<string>({
    onDemand: () => {
      throw new Error("broken")
    }
  })
  await expect(channel.next()).rejects.toThrow("broken")
  expect([await channel.next(), channel.isOver]).toEqual([end, true])
})

test("CHAN6 kept items are read before the end, and later items are discarded", async () => {
  const channel = new Channel<string>()
  channel.push("a")
  channel.end()
  channel.push("b")
  channel.fail(new Error("too late"))
  expect([await channel.next(), await channel.next(), await channel.next()]).toEqual([item("a"), end, end])
})

test("CHAN6 kept items are read before the failure, which rejects one read", async () => {
  const channel = new Channel<string>()
  channel.push("a")
  channel.fail(new Error("broken"))
  expect(await channel.next()).toEqual(item("a"))
  await expect(channel.next()).rejects.toThrow("broken")
  expect(await channel.next()).toEqual(end)
})

test("CHAN6 of several reads that wait, a failure rejects the oldest", async () => {
  const channel = new Channel<string>()
  const reads = Promise.allSettled([channel.next(), channel.next(), channel.next()])
  channel.fail("broken")
  expect(await reads).toEqual([
    { status: "rejected", reason: "broken" },
    { status: "fulfilled", value: end },
    { status: "fulfilled", value: end }
  ])
})

test("CHAN7 `return` discards kept items and the failure, ends the reads, and notifies the owner once", async () => {
  let left = 0
  const channel = new Channel<string>({ onReturn: async () => void left++ })
  const read = channel.next()
  await Promise.all([channel.return(), channel.return()])
  expect([await read, left]).toEqual([end, 1])

  const failed = new Channel<string>()
  failed.push("a")
  failed.fail(new Error("broken"))
  failed.close()
  expect([await failed.next(), failed.unread]).toEqual([end, 0])
})

test("leaving a loop, `throw` and `await using` call `return`", async () => {
  let left = 0
  const make = (): Channel<string> => {
    const channel = new Channel<string>({ onReturn: () => left++ })
    channel.push("a")
    return channel
  }
  for await (const _ of make()) break
  await expect(make().throw(new Error("enough"))).rejects.toThrow("enough")
  {
    await using channel = make()
    expect(channel.unread).toBe(1)
  }
  expect(left).toBe(3)
})

test("the newest item of a queue is replaced, and nothing in an empty one", () => {
  const fifo = new Fifo<number>()
  fifo.replaceLast(0)
  expect(fifo.size).toBe(0)
  fifo.push(1)
  fifo.push(2)
  fifo.replaceLast(3)
  expect([fifo.shift(), fifo.shift(), fifo.shift()]).toEqual([1, 3, undefined])
})

/** A channel in plain words: what was pushed, and how it ended. */
const randomRun = async (dice: Dice) => {
  const channel = new Channel<string>({ join })
  const pushed: Array<string> = []
  const reads: Array<Promise<IteratorResult<string, undefined> | "failed">> = []
  let ending: "end" | "fail" | undefined
  for (let step = 0; step < 60; step++) {
    const act = dice.below(20)
    if (act < 9) {
      const word = `${dice.one(["a", "b"])}${step} `
      if (ending === undefined) pushed.push(word)
      channel.push(word)
    } else if (act < 18) {
      reads.push(channel.next().catch(() => "failed" as const))
    } else if (act === 19 && step > 40) {
      ending ??= dice.one(["end", "fail"])
      if (ending === "end") channel.end()
      else channel.fail(new Error("broken"))
    }
    if (dice.oneIn(3)) await Promise.resolve()
  }
  if (ending === undefined) channel.end()
  while (channel.unread > 0) reads.push(channel.next())
  reads.push(
    channel.next().catch(() => "failed" as const),
    channel.next()
  )
  return { pushed, results: await Promise.all(reads), failed: ending === "fail" }
}

test("CHAN1 CHAN6 in any order of calls, the reads have all that was pushed, in order, then one end", async () => {
  for (const seed of seedsOf(400)) {
    const { pushed, results, failed } = await randomRun(new Dice(seed))
    const words = results.flatMap((result) => (result === "failed" || result.done === true ? [] : [result.value]))
    expect(words.join(""), `seed ${seed}`).toBe(pushed.join(""))
    const ends = results.slice(words.length)
    expect(ends.filter((result) => result === "failed").length, `seed ${seed}`).toBe(failed ? 1 : 0)
    expect(ends[0] === "failed", `seed ${seed}`).toBe(failed)
  }
})
