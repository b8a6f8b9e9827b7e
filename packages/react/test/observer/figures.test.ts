import { describe, expect, test } from "vitest"
import { costOf, tokensOf } from "../../src/observer/timeline/cost.ts"
import { bytes, duration, mark, money } from "../../src/format/format.ts"
import { lostIn, successorOf } from "../../src/observer/tree/successor.ts"
import { axisOf, marksOf, turnsOf } from "../../src/observer/timeline/timelineRows.ts"
import { node, treeWith } from "../double/observerLinks.ts"

describe("a figure", () => {
  test("is as short as it can be read", () => {
    expect([0, 999, 1_000, 1_550_000].map(bytes)).toEqual(["0 B", "999 B", "1.0 kB", "1.6 MB"])
    expect([0.4, 999, 1_240, 59_940, 125_000].map(duration)).toEqual([
      "0 ms",
      "999 ms",
      "1.24 s",
      "59.9 s",
      "2 min 5 s"
    ])
    expect([0, 400, 2_500].map(mark)).toEqual(["0", "400 ms", "2.5 s"])
    expect([0.00042, 0.0662, 1.5].map(money)).toEqual(["$0.00042", "$0.0662", "$1.50"])
  })
})

describe("tokens", () => {
  test("that were cached cost as such, and as input where no price says else", () => {
    const tokens = tokensOf({ inputTokens: 1_000_000, cachedInputTokens: 400_000, outputTokens: 100_000 })
    expect(costOf(tokens, { input: 5, output: 20, cachedInput: 0.5 })).toBeCloseTo(3 + 0.2 + 2, 9)
    expect(costOf(tokens, { input: 5, output: 20 })).toBeCloseTo(5 + 2, 9)
  })

  test("that were not reported are none, and no more are cached than were read", () => {
    expect(tokensOf({})).toEqual({ freshInput: 0, cachedInput: 0, output: 0, reasoning: 0, total: 0 })
    expect(tokensOf({ inputTokens: 10, cachedInputTokens: 30 })).toMatchObject({ freshInput: 0, cachedInput: 10 })
  })
})

describe("a successor", () => {
  const lost = lostIn(treeWith("<0.7.0>").tree, "<0.9.0>")

  test("stands at the same place under another pid, though all above it came anew", () => {
    expect(lost?.label).toBe("ToolBatch")
    expect(lost && successorOf(lost, treeWith("<0.20.0>").tree)).toBe("<0.22.0>")
  })

  test("is nobody who was there before, and nobody at another place", () => {
    expect(lost && successorOf(lost, treeWith("<0.7.0>").tree)).toBeUndefined()
    const elsewhere = [node({ id: "<0.50.0>", label: "ToolBatch" })]
    expect(lost && successorOf(lost, elsewhere)).toBeUndefined()
  })
})

describe("a timeline", () => {
  const turn = { id: "1", kind: "turn", label: "Hi", from: 1_000, to: undefined, outcome: undefined } as const

  test("that goes on has an axis that is longer, and stays while it grows", () => {
    const lengths = [6_000, 6_100, 6_200].map((now) => turnsOf([turn], now).map(axisOf)[0] ?? 0)
    expect(new Set(lengths).size).toBe(1)
    expect(lengths[0]).toBeGreaterThan(5_200)
    expect(turnsOf([{ ...turn, to: 4_000 }], 9_000).map(axisOf)).toEqual([3_000])
  })

  test("has round marks, the first at its beginning", () => {
    expect(marksOf(9_000)).toEqual([0, 2_000, 4_000, 6_000])
    expect(marksOf(430)).toEqual([0, 100, 200, 300])
    expect(marksOf(162)).toEqual([0, 50, 100])
  })

  test("keeps each turn's stretches apart, a zombie's beyond the end of its turn", () => {
    const spans = [
      { ...turn, to: 2_000 },
      { ...turn, id: "z", kind: "zombie", from: 1_900, label: "crawl" },
      { ...turn, id: "2", from: 3_000, to: 4_000 },
      { ...turn, id: "2.1.stream", kind: "stream", from: 3_100, to: 3_900 }
    ] as const
    const turns = turnsOf(spans, 5_000)
    expect(turns.map(({ rows, to, isLive }) => [rows.length, to, isLive])).toEqual([
      [2, 5_000, true],
      [2, 4_000, false]
    ])
  })
})
