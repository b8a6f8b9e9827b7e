import { expect, test } from "vitest"
import { SparseMap } from "../../src/async/sparseMap.ts"

test("SPARSE1 it has the entries of a map, in the order of adding, also after it was empty", () => {
  const map = new SparseMap<string, number>()
  expect([map.size, map.get("a"), map.has("a"), map.delete("a"), [...map.all]]).toEqual([
    0,
    undefined,
    false,
    false,
    []
  ])
  map.set("b", 1)
  map.set("a", 2)
  map.set("b", 3)
  expect([map.size, [...map.all]]).toEqual([
    2,
    [
      ["b", 3],
      ["a", 2]
    ]
  ])
  expect([map.delete("b"), map.delete("a"), map.size, [...map.all]]).toEqual([true, true, 0, []])
  map.set("c", 4)
  map.clear()
  expect([map.size, map.has("c")]).toEqual([0, false])
})
