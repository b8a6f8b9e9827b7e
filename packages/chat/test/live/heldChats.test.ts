import { expect, test } from "vitest"
import { HeldChats } from "../../src/live/passivation.ts"

/** Chats with numbers as ids, in ten buckets by the last digit, and how often a bucket was determined. */
const heldChats = (count: number) => {
  const looks = { count: 0 }
  const held = new HeldChats<string>((id) => {
    looks.count += 1
    return Number(id) % 10
  })
  for (let at = 0; at < count; at++) held.set(String(at), `chat ${at}`)
  return { held, looks }
}

const buckets = Array.from({ length: 10 }, (_, bucket) => bucket)

test("buckets that are asked for one after another look at each chat once", () => {
  const { held, looks } = heldChats(200)
  const found = buckets.map((bucket) => held.ofBuckets([bucket]).length)
  expect([found, looks.count]).toEqual([buckets.map(() => 20), 200])
})

test("a chat that is held or forgotten between two questions is looked at then, and no other is", () => {
  const { held, looks } = heldChats(30)
  held.ofBuckets([3])
  held.set("33", "chat 33")
  held.set("13", "chat 13 again")
  held.delete("3")
  held.delete("3")
  expect([held.ofBuckets([3]), held.ofBuckets([3, 4, 3]).length]).toEqual([["chat 13 again", "chat 23", "chat 33"], 6])
  expect(looks.count).toBe(32)
})

test("a program that asks for no bucket determines none", () => {
  const { held, looks } = heldChats(30)
  held.delete("3")
  expect([looks.count, held.size]).toEqual([0, 29])
})

test("chats that are cleared are in no bucket", () => {
  const { held } = heldChats(30)
  held.ofBuckets([3])
  held.clear()
  expect(held.ofBuckets([3])).toEqual([])
})
