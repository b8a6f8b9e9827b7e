import { describe, expect, test } from "vitest"
import { LateWrites } from "../../src/store/storeCall.ts"
import type { AcceptCall, StoreCall } from "../../src/store/storeCall.ts"
import { saved } from "../../src/record/entries.ts"
import { inputOf, said } from "../double/records.ts"

const append = (...takes: ReadonlyArray<string>): StoreCall => ({
  type: "append",
  id: "a",
  entries: [],
  after: 1,
  takes
})
const taking = (...takes: ReadonlyArray<string>): StoreCall => ({ type: "append", id: "a", entries: [], takes })
const accept = (id: string): AcceptCall => ({ type: "accept", id: "a", input: inputOf(id, id) })
const gone: StoreCall = { type: "delete", id: "a" }
const rewind: StoreCall = { type: "rewind", id: "a", seq: 1 }
const newest = said("a", "newest")
const unconditional = { after: undefined, record: undefined, takes: undefined }
const whole: StoreCall = { type: "append", id: "a", ...unconditional, entries: [saved(newest)] }

/** The calls that are repeated after this late write, when these were stored since. */
const repeatedAfter = (late: StoreCall, ...stored: ReadonlyArray<StoreCall>): ReadonlyArray<StoreCall> => {
  const writes = new LateWrites()
  const begun = writes.begun(late, 1)
  for (const [at, call] of stored.entries()) writes.stored(call, newest, 2 + at)
  return writes.settled("a", begun)
}

describe("LATE1", () => {
  test("after a late input the rows of all inputs that were taken since are removed", () => {
    expect(repeatedAfter(accept("i1"), append("i1"), append("i2"))).toEqual([taking("i1", "i2")])
    expect(repeatedAfter(accept("i1"), append())).toEqual([])
  })

  test("after late entries of a store without a log its newest record is written again", () => {
    expect(repeatedAfter(append(), append())).toEqual([taking()])
    expect(repeatedAfter(append())).toEqual([])
  })

  test("after a late write a later delete is repeated alone", () => {
    expect(repeatedAfter(accept("i1"), accept("i1"), append("i2"), gone)).toEqual([gone])
  })

  test("a rewind since leaves no record to repeat", () => {
    expect(repeatedAfter(gone, append(), rewind)).toEqual([])
  })

  test("writes of another chat, or before the late one, are not repeated", () => {
    const writes = new LateWrites()
    writes.stored(append("i1"), newest, 1)
    const late = writes.begun(accept("i2"), 2)
    writes.stored({ ...gone, id: "b" }, undefined, 3)
    expect(writes.settled("a", late)).toEqual([])
  })

  test("an input that is accepted again late, after it was taken, keeps its row", () => {
    const writes = new LateWrites()
    const earlier = writes.begun(accept("i2"), 1)
    writes.stored(append("i1"), newest, 2)
    const late = writes.begun(accept("i1"), 3)
    expect(writes.settled("a", earlier)).toEqual([])
    expect(writes.settled("a", late)).toEqual([])
  })

  test("an input whose commit settles after its late accept was asked for keeps its row", () => {
    const writes = new LateWrites()
    const late = writes.begun(accept("i1"), 3)
    writes.stored(append("i1"), newest, 2)
    expect(writes.settled("a", late)).toEqual([])
  })
})

describe("LATE2", () => {
  test("after a late delete the newest record is stored again, and then the inputs that were accepted since", () => {
    expect(repeatedAfter(gone, accept("i1"), append(), accept("i2"))).toEqual([whole, accept("i1"), accept("i2")])
  })

  test("an input that was taken since is not accepted again", () => {
    expect(repeatedAfter(gone, accept("i1"), accept("i2"), append("i1"))).toEqual([whole, accept("i2")])
  })

  test("an input that a write took which was answered with an error is not accepted again", () => {
    const writes = new LateWrites()
    const late = writes.begun(gone, 1)
    writes.stored(accept("i1"), newest, 2)
    writes.failed(append("i1"), 3)
    expect(writes.settled("a", late)).toEqual([])
  })

  test("an input that was accepted again after it was taken waits", () => {
    expect(repeatedAfter(accept("i1"), append("i1"), accept("i1"))).toEqual([accept("i1")])
  })
})
