import { describe, expect, it } from "vitest"
import { extended, identicalPrefix, wellFormedEach } from "../../src/json/index.ts"

const one = (text: string) => ({ text })
const [a, b, c, d] = [one("a"), one("b"), one("c"), one("d")]

/** The beginning of each list: a shorter one does not grow. */
const long = Array.from({ length: 31 }, (_, at) => one(String(at)))

describe("GROW1: lists that grow", () => {
  it("is the same list for all who add the same elements to lists that are beginnings of it", () => {
    const began = extended([...long, a], [b])
    const other = extended([...long, a], [b])
    expect(other).not.toBe(began)
    const grown = extended(began, [c])
    expect(extended(began, [c])).toBe(grown)
    expect(identicalPrefix(other, grown)).toBe(33)
    expect(extended(other, [c])).toBe(grown)
    expect(grown).toEqual([...long, a, b, c])
  })

  it("is another list for other elements, and the lists stay as they are", () => {
    const began = extended([...long, a], [b])
    const grown = extended(began, [c])
    const branch = extended(began, [d])
    expect([began, grown, branch]).toEqual([
      [...long, a, b],
      [...long, a, b, c],
      [...long, a, b, d]
    ])
    expect(identicalPrefix(grown, branch)).toBe(33)
    expect(identicalPrefix(extended(grown, [d]), branch)).toBe(33)
    expect(identicalPrefix(branch, began)).toBe(33)
    expect(identicalPrefix(began, extended(branch, [a]))).toBe(33)
  })

  it("a list of the program that it changes afterwards leads to a new list", () => {
    const own = [...long, a]
    const grown = extended(own, [b])
    own[31] = c
    expect(extended(own, [b])).toEqual([...long, c, b])
    own.push(d)
    expect(extended(own, [b])).toEqual([...long, c, d, b])
    expect(grown).toEqual([...long, a, b])
  })

  it("is a copy where it is short", () => {
    const began = extended([a], [b])
    expect(extended(began, [c])).toEqual([a, b, c])
    expect(extended(began, [c])).not.toBe(extended(began, [c]))
    expect(identicalPrefix(began, extended(began, [c]))).toBe(2)
  })

  it("WELL1: what is added to a list whose beginning has been checked is checked", () => {
    const began = extended([...long, a], [b])
    expect(wellFormedEach(began)).toBe(began)
    const grown = extended(began, [one("\ud800")])
    expect(wellFormedEach(grown)).toEqual([...long, a, b, one("\ufffd")])
    expect(wellFormedEach(grown)).toEqual([...long, a, b, one("\ufffd")])
    const branch = extended(began, [c])
    expect(wellFormedEach(branch)).toBe(branch)
  })
})
