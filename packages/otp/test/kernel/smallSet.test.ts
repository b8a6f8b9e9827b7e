import { expect, test } from "vitest"
import { SmallSet } from "../../src/kernel/smallSet.ts"

const thing = (name: string) => ({ name })
const names = (few: SmallSet<{ readonly name: string }>) => few.all.map(({ name }) => name)

test("FEW1 what is added is in it once, in the order it came, whatever left in between", () => {
  const few = new SmallSet<{ readonly name: string }>()
  const [a, b, c] = [thing("a"), thing("b"), thing("c")]
  for (const each of [a, a, b, b]) few.add(each)
  expect(names(few)).toEqual(["a", "b"])
  few.delete(a)
  few.add(c)
  few.add(a)
  few.add(b)
  expect(names(few)).toEqual(["b", "c", "a"])
  for (const each of [b, c, a]) few.delete(each)
  expect(few.size).toBe(0)
  few.add(c)
  few.add(b)
  expect(names(few)).toEqual(["c", "b"])
})

test("FEW1 what is in it is what was added and not removed", () => {
  const few = new SmallSet<{ readonly name: string }>()
  const [a, b] = [thing("a"), thing("b")]
  few.delete(a)
  expect([few.has(a), few.size]).toEqual([false, 0])
  few.add(a)
  expect([few.has(a), few.has(b), few.size]).toEqual([true, false, 1])
  few.add(b)
  few.delete(a)
  expect([few.has(a), few.has(b), few.size]).toEqual([false, true, 1])
})

test("what was in it when asked stays as it was", () => {
  const few = new SmallSet<{ readonly name: string }>()
  few.add(thing("a"))
  const { all } = few
  few.add(thing("b"))
  expect(all.length).toBe(1)
})
