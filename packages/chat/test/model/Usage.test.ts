import { describe, expect, test } from "vitest"
import * as Usage from "../../src/model/Usage.ts"

describe("usage", () => {
  test("adds up field by field, and what neither reported stays absent", () => {
    expect(Usage.add({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 3, totalCost: 0.5 })).toEqual({
      inputTokens: 4,
      outputTokens: 2,
      totalCost: 0.5
    })
    expect(Usage.add({}, {})).toEqual({})
    expect(Usage.add({ inputTokens: 0 }, {})).toEqual({ inputTokens: 0 })
  })

  test("adding changes neither side", () => {
    const left = Object.freeze({ inputTokens: 1 })
    Usage.add(left, Object.freeze({ inputTokens: 2 }))
    expect(left).toEqual({ inputTokens: 1 })
    expect(Usage.add(Usage.empty, { inputTokens: 1 })).toEqual({ inputTokens: 1 })
    expect(Usage.empty).toEqual({})
  })

  test("the total is the reported one, else the sum of both sides, else unknown", () => {
    expect(Usage.totalTokens({ totalTokens: 9, inputTokens: 1, outputTokens: 2 })).toBe(9)
    expect(Usage.totalTokens({ inputTokens: 1, outputTokens: 2 })).toBe(3)
    expect(Usage.totalTokens({ inputTokens: 1 })).toBeUndefined()
  })
})
