import { expect, test } from "vitest"
import { SparseMap } from "../../src/inbox/inboxBound.ts"

test("SPARSE1 it has the entries of a map, in the order of adding, also after it was empty", () => {
  const map = new SparseMap<string, number>()
  map.delete("a")
  expect([...map.all]).toEqual([])
  map.set("b", 1)
  map.set("a", 2)
  map.set("b", 3)
  expect([...map.all]).toEqual([
    ["b", 3],
    ["a", 2]
  ])
  map.delete("b")
  map.delete("b")
  expect([...map.all]).toEqual([["a", 2]])
  map.delete("a")
  expect([...map.all]).toEqual([])
  map.set("c", 4)
  map.clear()
  expect([...map.all]).toEqual([])
})
