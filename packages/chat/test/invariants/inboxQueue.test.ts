import { expect, test } from "vitest"
import type { WhenBusy } from "../../src/record/Inbox.ts"
import { Channel } from "@troupe/otp"
import * as Inbox from "../../src/inbox/Inbox.ts"
import type { TurnData } from "../../src/inbox/turnData.ts"
import { user } from "../../src/model/Message.ts"

const turnFor = (id: string, whenBusy: Exclude<WhenBusy, "reject">): TurnData => ({
  id,
  messages: [user(id)],
  whenBusy,
  named: true,
  followed: true
})

const none: ReadonlySet<string> = new Set()

const order = (inbox: Inbox.Inbox): ReadonlyArray<string> => {
  const ids: Array<string> = []
  let rest = inbox
  for (let next = Inbox.next(rest); next !== undefined; next = Inbox.next(rest)) {
    ids.push(next.id)
    rest = Inbox.without(rest, next)
  }
  return ids
}

const statuses = (inbox: Inbox.Inbox): ReadonlyArray<string> => inbox.map(({ id, status }) => `${id} ${status}`)

const filled = [
  turnFor("q1", "queue"),
  turnFor("i1", "interrupt"),
  turnFor("q2", "queue"),
  turnFor("i2", "interrupt")
].reduce(Inbox.add, Inbox.empty)

const steered = [turnFor("s1", "steer"), turnFor("s2", "steer")].reduce(Inbox.add, filled)

test("MAIL1 interrupts come before everything else, then what was queued, each in the order it came", () => {
  expect(order(filled)).toEqual(["i1", "i2", "q1", "q2"])
})

test("MAIL2 what could not steer is queued ahead of what was queued before", () => {
  const ended = Inbox.turnEnded(steered)
  expect(order(ended)).toEqual(["i1", "i2", "s1", "s2", "q1", "q2"])
  expect([Inbox.hasSteers(steered), Inbox.hasSteers(ended)]).toEqual([true, false])
})

test("MAIL3 a held input waits until it is released; the order of the others does not change", () => {
  const left = Inbox.holding(
    [
      { id: "a", whenBusy: "queue", message: user("a") },
      { id: "b", whenBusy: "queue", message: user("b") },
      { id: "c", whenBusy: "interrupt", message: user("c") }
    ],
    none
  )
  expect(Inbox.next(left)).toBeUndefined()
  expect(Inbox.entries(left).map(({ id }) => id)).toEqual(["c", "a", "b"])
  const released = Inbox.add(left, turnFor("b", "queue"))
  expect([statuses(released), order(released)]).toEqual([["c held", "a held", "b waiting"], ["b"]])
})

test("MAIL3 an input that the thread has already does not wait; the next commit removes its row", () => {
  const inputs = ["a", "b"].map((id) => ({ id, whenBusy: "queue", message: user(id) }) as const)
  const left = Inbox.holding(inputs, new Set(["a"]))
  expect(Inbox.entries(left).map(({ id }) => id)).toEqual(["b"])
  expect(Inbox.takes(left)).toEqual(["a"])
  expect(statuses(Inbox.committed(left))).toEqual(["b held"])
})

test("ARR1 a taken input leaves with its commit, and waits for its release when the commit fails", () => {
  const taken = Inbox.take(filled, turnFor("q1", "queue"))
  expect([Inbox.takes(taken), Inbox.next(taken)?.id]).toEqual([["q1"], "i1"])
  expect(statuses(Inbox.committed(taken))).toEqual(["i1 waiting", "q2 waiting", "i2 waiting"])
  const failed = Inbox.failed(taken)
  expect(statuses(failed)).toEqual(["q1 failed", "i1 waiting", "q2 waiting", "i2 waiting"])
  expect(statuses(Inbox.hold(failed, turnFor("d", "queue"), "doubted")).slice(0, 3)).toEqual([
    "q1 failed",
    "d doubted",
    "i1 waiting"
  ])
})

test("ARR1 steering inputs whose commit fails wait again, in their places", () => {
  const taken = Inbox.takeSteers(steered)
  expect(Inbox.takes(taken)).toEqual(["s1", "s2"])
  expect(Inbox.waitingAgain(taken)).toEqual(steered)
})

test("an inbox is a value: the one before stays as it was, and an entry says who chose its id", () => {
  const one = Inbox.add(Inbox.empty, turnFor("a", "queue"))
  Inbox.add(one, turnFor("b", "queue"))
  expect(Inbox.entries(one)).toEqual([{ id: "a", named: true, whenBusy: "queue", message: user("a") }])
  expect(Inbox.entries(one)).toBe(Inbox.entries(one))
  expect(Inbox.entries(Inbox.empty)).toEqual([])
})

test("a fifo gives back what was pushed, in order, through growth and wrapping", () => {
  const fifo = new Channel.Fifo<number>()
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
