import { expect, test } from "vitest"
import type { WhenBusy } from "../../src/record/Inbox.ts"
import { Delivery, type Turn } from "../../src/inbox/delivery.ts"
import { Fifo } from "../../src/async/fifo.ts"
import { Mailbox } from "../../src/inbox/inboxQueue.ts"
import { PersistentQueue } from "../../src/async/persistentQueue.ts"
import { user } from "../../src/model/Message.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { turnOf } from "../double/stepping.ts"

const check = leakCheck()

const turnFor = (id: string, whenBusy: Exclude<WhenBusy, "reject">): Turn =>
  turnOf({ adapter: check.fake({ script: [] }) }, [user(id)], { delivery: new Delivery(whenBusy, id) })

const order = (mailbox: Mailbox): ReadonlyArray<string> => {
  const ids: Array<string> = []
  for (let rest = mailbox; rest.next !== undefined; rest = rest.withoutNext()) ids.push(rest.next.delivery?.id ?? "")
  return ids
}

const filled = Mailbox.empty
  .add(turnFor("q1", "queue"))
  .add(turnFor("s1", "steer"))
  .add(turnFor("i1", "interrupt"))
  .add(turnFor("q2", "queue"))
  .add(turnFor("i2", "interrupt"))
  .add(turnFor("s2", "steer"))

test("MAIL1 interrupts come before everything else, then what was queued, each in the order it came", () => {
  expect(order(filled)).toEqual(["i1", "i2", "q1", "q2"])
})

test("MAIL2 what could not steer is queued ahead of what was queued before", () => {
  expect(order(filled.turnEnded())).toEqual(["i1", "i2", "s1", "s2", "q1", "q2"])
  expect(filled.turnEnded().steers).toBe(false)
})

test("MAIL3 what an earlier life left waits until it is released", () => {
  const left = Mailbox.holding([
    { id: "a", whenBusy: "queue", message: user("a") },
    { id: "b", whenBusy: "queue", message: user("b") }
  ])
  expect(left.next).toBeUndefined()
  expect(left.entries.map(({ id }) => id)).toEqual(["a", "b"])
  const released = left.add(turnFor("b", "queue"))
  expect([released.held.map(({ id }) => id), order(released)]).toEqual([["a"], ["b"]])
  expect(released.entries.map(({ id }) => id)).toEqual(["a", "b"])
})

test("a mailbox is a value: the one before stays as it was, and an entry says who chose its id", () => {
  const one = Mailbox.empty.add(turnFor("a", "queue"))
  one.add(turnFor("b", "queue"))
  expect(one.entries).toEqual([{ id: "a", named: true, whenBusy: "queue", message: user("a") }])
  expect(one.entries).toBe(one.entries)
  expect(Mailbox.empty.entries).toEqual([])
})

test("LINE1 a line gives back what was added, in order, however adding and taking alternate", () => {
  let line = PersistentQueue.of<number>([])
  const taken: Array<number | undefined> = []
  for (let next = 0; next < 100; next++) {
    line = line.push(next)
    if (next % 3 === 0) {
      taken.push(line.first)
      line = line.rest()
    }
  }
  expect([...taken, ...line.toArray()]).toEqual(Array.from({ length: 100 }, (_, index) => index))
  expect(line.size).toBe(line.toArray().length)
})

test("LINE1 a line that was taken from is as it was, for who kept it", () => {
  const line = PersistentQueue.of([1, 2]).push(3)
  expect([line.rest().rest().first, line.toArray(), line.rest().rest().rest().first]).toEqual([3, [1, 2, 3], undefined])
})

test("a fifo gives back what was pushed, in order, through growth and wrapping", () => {
  const fifo = new Fifo<number>()
  const taken: Array<number | undefined> = []
  for (let next = 0; next < 5_000; next++) {
    fifo.push(next)
    if (next % 2 === 0) taken.push(fifo.shift())
  }
  expect(fifo.last).toBe(4_999)
  while (fifo.size > 0) taken.push(fifo.shift())
  expect(taken).toEqual(Array.from({ length: 5_000 }, (_, index) => index))
  expect([fifo.shift(), fifo.last, fifo.size]).toEqual([undefined, undefined, 0])
})
