import { describe, expect, test } from "vitest"
import { CastMessage } from "../../src/core/castMessage.ts"
import { Mailbox } from "../../src/kernel/mailbox.ts"
import { Dice } from "../properties/dice.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

/** A message as a text: a cast differs from a message with the same number. */
const textOf = (message: unknown): string =>
  message instanceof CastMessage ? `cast ${String(message.message)}` : String(message)

const numberOf = (message: unknown): number => Number(message instanceof CastMessage ? message.message : message)

/** A mailbox, and beside it the plain array it should behave like. */
class Pair {
  readonly mailbox = new Mailbox()
  model: Array<unknown> = []
  #next = 0

  push(count: number): void {
    for (let pushed = 0; pushed < count; pushed++) {
      const message = this.#next % 3 === 0 ? new CastMessage(this.#next) : this.#next
      this.#next++
      this.model.push(message)
      this.mailbox.push(message)
    }
  }

  shift(count: number): void {
    for (let shifted = 0; shifted < count; shifted++)
      expect(textOf(this.mailbox.shift())).toBe(textOf(this.model.shift()))
  }

  take(requested: (number: number) => boolean): void {
    const match = (message: unknown): boolean => requested(numberOf(message))
    let found: unknown
    const taken = this.mailbox.take({ match, found: (message) => (found = message) })
    const index = this.model.findIndex(match)
    expect([taken, found]).toStrictEqual([index >= 0, index < 0 ? undefined : this.model.splice(index, 1)[0]])
  }

  drop(unwanted: (number: number) => boolean): void {
    const match = (message: unknown): boolean => unwanted(numberOf(message))
    const kept = this.model.filter((message) => !match(message))
    expect(this.mailbox.drop(match)).toBe(kept.length < this.model.length)
    this.model = kept
  }

  /** Expects that the mailbox holds the messages of the model in the same order. */
  check(): void {
    const held = this.mailbox.first(this.mailbox.size)
    expect(held.map(textOf).join()).toBe(this.model.map(textOf).join())
  }
}

const play = (dice: Dice, pair: Pair): void => {
  const many = dice.one([1, 3, 40, 100])
  const one = numberOf(pair.model[dice.below(pair.model.length + 1)])
  const rest = dice.below(7)
  const move = dice.below(7)
  if (move < 2) pair.push(many)
  else if (move === 2) pair.shift(many)
  else if (move === 3) pair.take((number) => number === one)
  else if (move === 4) pair.take((number) => number === numberOf(pair.model.at(-1)))
  else if (move === 5) for (let at = 0; at < many; at++) pair.take((number) => number % 5 === 0)
  else if (dice.oneIn(4)) pair.drop((number) => number % 7 === rest)
}

describe("MBOX1 MBOX2 MBOX4 a mailbox behaves like a list, whatever is pushed, shifted, taken and dropped", () => {
  test.each(seedsOf(40))("seed %i", (seed) => {
    const dice = new Dice(seed)
    const pair = new Pair()
    for (let move = 0; move < 120; move++) {
      play(dice, pair)
      pair.check()
    }
    pair.shift(pair.model.length + 1)
    expect(pair.mailbox.size).toBe(0)
  })
})

test("MBOX2 what is taken from the end, page by page, leaves the rest in its order", () => {
  const pair = new Pair()
  pair.push(200)
  while (pair.model.length > 3) {
    const last = numberOf(pair.model.at(-1))
    pair.take((number) => number === last)
  }
  pair.push(50)
  pair.check()
  pair.shift(53)
  expect(pair.mailbox.size).toBe(0)
})
