import { describe, expect, test } from "vitest"
import { LateWrites } from "../../src/store/lateWrites.ts"
import type { AcceptCall, StoreCall } from "../../src/store/storeCall.ts"
import { inputOf, said } from "../double/records.ts"

const save = (text: string, ...takes: ReadonlyArray<string>): StoreCall => ({
  type: "save",
  record: said("a", text),
  after: 1,
  takes
})
const accept = (id: string): AcceptCall => ({ type: "accept", id: "a", input: inputOf(id, id) })
const gone: StoreCall = { type: "delete", id: "a" }
const rewind: StoreCall = { type: "rewind", id: "a", seq: 1 }

/** The calls that are repeated after a late write, when these were stored since. */
const repeated = (...stored: ReadonlyArray<StoreCall>): ReadonlyArray<StoreCall> => {
  const writes = new LateWrites()
  const late = writes.begun("a")
  for (const call of stored) writes.stored(call)
  return writes.settled("a", late)
}

describe("LATE1", () => {
  test("after a late write the newest save is repeated with every input that was taken since", () => {
    expect(repeated(save("one", "i1"), save("two", "i2"))).toEqual([save("two", "i1", "i2")])
    expect(repeated(save("one"))).toEqual([save("one")])
  })

  test("after a late write a later delete is repeated alone", () => {
    expect(repeated(accept("i1"), save("one", "i2"), gone)).toEqual([gone])
  })

  test("a rewind since leaves no save to repeat", () => {
    expect(repeated(save("one"), rewind)).toEqual([])
  })

  test("writes of another chat, or before the late one, are not repeated", () => {
    const writes = new LateWrites()
    writes.stored(save("before"))
    const late = writes.begun("a")
    writes.stored({ ...gone, id: "b" })
    expect(writes.settled("a", late)).toEqual([])
  })
})

describe("LATE2", () => {
  test("after a late write the inputs that were accepted since are accepted again, behind the newest save", () => {
    expect(repeated(accept("i1"), save("one"), accept("i2"))).toEqual([save("one"), accept("i1"), accept("i2")])
  })

  test("an input that was taken since is not accepted again", () => {
    expect(repeated(accept("i1"), accept("i2"), save("one", "i1"))).toEqual([save("one", "i1"), accept("i2")])
  })

  test("an input that was accepted again after it was taken waits", () => {
    expect(repeated(save("one", "i1"), accept("i1"))).toEqual([save("one"), accept("i1")])
  })
})
