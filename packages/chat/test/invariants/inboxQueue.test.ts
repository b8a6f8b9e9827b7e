import { expect, test } from "vitest"
import type { WhenBusy } from "../../src/record/Inbox.ts"
import { Fifo } from "../../src/async/fifo.ts"
import * as Mailbox from "../../src/inbox/Mailbox.ts"
import type { TurnData } from "../../src/inbox/turnData.ts"
import { user } from "../../src/model/Message.ts"

const turnFor = (id: string, whenBusy: Exclude<WhenBusy, "reject">): TurnData => ({
  id,
  messages: [user(id)],
  whenBusy,
  named: true,
  receipt: "sent"
})

const order = (mailbox: Mailbox.Mailbox): ReadonlyArray<string> => {
  const ids: Array<string> = []
  let rest = mailbox
  for (let next = Mailbox.next(rest); next !== undefined; next = Mailbox.next(rest)) {
    ids.push(next.id)
    rest = Mailbox.withoutNext(rest)
  }
  return ids
}

const filled = [
  turnFor("q1", "queue"),
  turnFor("s1", "steer"),
  turnFor("i1", "interrupt"),
  turnFor("q2", "queue"),
  turnFor("i2", "interrupt"),
  turnFor("s2", "steer")
].reduce(Mailbox.add, Mailbox.empty)

test("MAIL1 interrupts come before everything else, then what was queued, each in the order it came", () => {
  expect(order(filled)).toEqual(["i1", "i2", "q1", "q2"])
})

test("MAIL2 what could not steer is queued ahead of what was queued before", () => {
  const ended = Mailbox.turnEnded(filled)
  expect(order(ended)).toEqual(["i1", "i2", "s1", "s2", "q1", "q2"])
  expect(ended.steers).toEqual([])
})

test("MAIL3 what an earlier life left waits until it is released", () => {
  const left = Mailbox.holding([
    { id: "a", whenBusy: "queue", message: user("a") },
    { id: "b", whenBusy: "queue", message: user("b") }
  ])
  expect(Mailbox.next(left)).toBeUndefined()
  expect(Mailbox.entries(left).map(({ id }) => id)).toEqual(["a", "b"])
  const released = Mailbox.add(left, turnFor("b", "queue"))
  expect([released.held.map(({ id }) => id), order(released)]).toEqual([["a"], ["b"]])
  expect(Mailbox.entries(released).map(({ id }) => id)).toEqual(["a", "b"])
})

test("a mailbox is a value: the one before stays as it was, and an entry says who chose its id", () => {
  const one = Mailbox.add(Mailbox.empty, turnFor("a", "queue"))
  Mailbox.add(one, turnFor("b", "queue"))
  expect(Mailbox.entries(one)).toEqual([{ id: "a", named: true, whenBusy: "queue", message: user("a") }])
  expect(Mailbox.entries(one)).toBe(Mailbox.entries(one))
  expect(Mailbox.entries(Mailbox.empty)).toEqual([])
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

test("MAIL1 a long queue gives back what was added, in order, however adding and taking alternate", () => {
  let mailbox = Mailbox.empty
  const taken: Array<string | undefined> = []
  for (let next = 0; next < 1_000; next++) {
    mailbox = Mailbox.add(mailbox, turnFor(`${next}`, "queue"))
    if (next % 3 === 0) {
      taken.push(Mailbox.next(mailbox)?.id)
      mailbox = Mailbox.withoutNext(mailbox)
    }
  }
  expect([...taken, ...order(mailbox)]).toEqual(Array.from({ length: 1_000 }, (_, index) => `${index}`))
})
