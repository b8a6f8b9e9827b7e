import { DateTime } from "effect"
import { expect, test } from "vitest"
import { jsonSize } from "../../src/json/jsonSize.ts"

test.each(
  [null, true, -1.5e300, "text", [], {}, [1, [2], { a: "b" }], { a: { b: [] }, c: "d" }].map((value) => [value])
)("SIZE1. %j counts what its JSON text has", (value) => {
  expect(jsonSize(value, 1_000)).toBe(JSON.stringify(value).length)
})

test("SIZE1. The walk ends at its bound, however large the value is", () => {
  let reads = 0
  const endless = new Proxy([] as Array<number>, {
    get: (list, key) => (key === "length" ? 2 ** 32 - 1 : typeof key === "string" ? ++reads : Reflect.get(list, key))
  })
  expect(jsonSize(endless, 100)).toBeGreaterThan(100)
  expect(reads).toBeLessThanOrEqual(100)
  let doubled: unknown = "x"
  for (let level = 0; level < 60; level++) doubled = [doubled, doubled]
  expect(jsonSize(doubled, 10_000)).toBeGreaterThan(10_000)
})

test("SIZE2. A cycle, a deep object and one that cannot be read count nothing and throw nothing", () => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  expect(jsonSize(cycle, 1_000)).toBeLessThan(20)
  let deep: unknown = 1
  for (let level = 0; level < 100_000; level++) deep = [deep]
  expect(jsonSize(deep, 1_000_000)).toBeLessThan(300)
  const unreadable = {
    get a() {
      throw new Error("no")
    }
  }
  expect(jsonSize({ unreadable, b: 1 }, 1_000)).toBeLessThan(40)
  expect(
    jsonSize({ a: undefined, b: new Uint8Array(300), c: 1n, d: DateTime.toDateUtc(DateTime.makeUnsafe(0)) }, 1_000)
  ).toBeGreaterThan(400)
})
