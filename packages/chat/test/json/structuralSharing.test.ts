import { describe, expect, it } from "vitest"
import { extended, identicalPrefix, wellFormedEach } from "../../src/json/index.ts"

const one = (text: string) => ({ text })
const [a, b, c, d] = [one("a"), one("b"), one("c"), one("d")]

describe("GROW1: lists that grow", () => {
  it("is the same list for all who add the same elements to lists that are beginnings of it", () => {
    const began = extended([a], [b])
    const other = extended([a], [b])
    expect(other).not.toBe(began)
    const grown = extended(began, [c])
    expect(extended(began, [c])).toBe(grown)
    expect(identicalPrefix(other, grown)).toBe(2)
    expect(extended(other, [c])).toBe(grown)
    expect(grown).toEqual([a, b, c])
  })

  it("is another list for other elements, and the lists stay as they are", () => {
    const began = extended([a], [b])
    const grown = extended(began, [c])
    const branch = extended(began, [d])
    expect([began, grown, branch]).toEqual([
      [a, b],
      [a, b, c],
      [a, b, d]
    ])
    expect(identicalPrefix(grown, branch)).toBe(2)
    expect(identicalPrefix(extended(grown, [d]), branch)).toBe(2)
    expect(identicalPrefix(branch, began)).toBe(2)
    expect(identicalPrefix(began, extended(branch, [a]))).toBe(2)
  })

  it("a list of the program that it changes afterwards leads to a new list", () => {
    const own = [a]
    const grown = extended(own, [b])
    own[0] = c
    expect(extended(own, [b])).toEqual([c, b])
    own.push(d)
    expect(extended(own, [b])).toEqual([c, d, b])
    expect(grown).toEqual([a, b])
  })

  it("WELL1: what is added to a list whose beginning has been checked is checked", () => {
    const began = extended([a], [b])
    expect(wellFormedEach(began)).toBe(began)
    const grown = extended(began, [one("\ud800")])
    expect(wellFormedEach(grown)).toEqual([a, b, one("\ufffd")])
    expect(wellFormedEach(grown)).toEqual([a, b, one("\ufffd")])
    const branch = extended(began, [c])
    expect(wellFormedEach(branch)).toBe(branch)
  })
})
