import { describe, expect, test } from "vitest"
import { plainPaint } from "../../src/output/paint.ts"
import { duration, finishedLine, liveLine, progressBar, shortened, visible } from "../../src/output/toolLines.ts"

const finished = (content: string): string =>
  finishedLine({ name: "calculate", arguments: { expression: "1+1" }, content, elapsedMs: 12 }, plainPaint)

describe("a finished call", () => {
  test("says what it did, what came back and how long it took", () => {
    expect(finished("2")).toBe('✔ calculate(expression: "1+1") → 2  12 ms')
    expect(finished("a\nb\nc")).toBe('✔ calculate(expression: "1+1") → 3 lines  12 ms')
  })

  test.each([
    ["timeout: late", '✖ calculate(expression: "1+1") timed out: late  12 ms'],
    ["handler_raised: boom", '✖ calculate(expression: "1+1") crashed: boom  12 ms'],
    ["cancelled: by you", '■ calculate(expression: "1+1") cancelled: by you  12 ms'],
    ["Division by zero", '✖ calculate(expression: "1+1") failed: Division by zero  12 ms']
  ])("has a line of its own for the error %j", (error, line) => {
    expect(finished(JSON.stringify({ error }))).toBe(line)
  })
})

describe("a live call", () => {
  const call = { id: "c", name: "slow_job", elapsedMs: 1_200, timeoutMs: 5_000, progress: { done: 1, total: 2 } }

  test("shows its time, its deadline and its progress", () => {
    expect(liveLine({ ...call, status: "running" }, plainPaint)).toMatch(
      /^. slow_job ▓{8}░{8} 50% {2}1\.2 s · deadline 5\.0 s$/
    )
  })

  test("says when it waits or is being cancelled", () => {
    expect(liveLine({ ...call, status: "queued" }, plainPaint)).toBe("· slow_job queued")
    expect(liveLine({ ...call, status: "gating" }, plainPaint)).toBe("· slow_job waits for permission")
    expect(liveLine({ ...call, status: "cancelling" }, plainPaint)).toContain("slow_job cancelling")
  })
})

describe("pieces of a line", () => {
  test("durations are in the unit people use", () => {
    expect([3, 999, 1_000, 61_000].map(duration)).toEqual(["3 ms", "999 ms", "1.0 s", "1 min 1 s"])
  })

  test("progress stays between nothing and all", () => {
    expect(progressBar({ done: 9, total: 3 })).toBe(`${"▓".repeat(16)} 100%`)
    expect(progressBar({ done: 0, total: 3 })).toBe(`${"░".repeat(16)} 0%`)
  })

  test("a text from outside cannot steer the terminal", () => {
    expect(visible("a\u001b[31mb\u001b]0;title\u0007c\rd\te\nf")).toBe("abcd\te\nf")
  })

  test("a text from outside cannot turn, part or hide what stands beside it", () => {
    expect(visible("anna/\u202Etxt.c\u2066a\u2028b\u2029c\u200Bd\uFEFF")).toBe(
      "anna/U+202Etxt.cU+2066aU+2028bU+2029cU+200BdU+FEFF"
    )
    expect(shortened("a\u2028b", 20)).toBe("aU+2028b")
  })

  test("letters and emoji that are joined stay so", () => {
    expect(visible("👩\u200D💻 می\u200Cخواهم")).toBe("👩\u200D💻 می\u200Cخواهم")
  })

  test("a text is cut with a sign that it was", () => {
    expect(shortened("one  two\nthree", 9)).toBe("one two …")
  })
})
