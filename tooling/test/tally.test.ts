import { describe, expect, test } from "vitest"
import { tally, tallyLine } from "../verify/tally.ts"

const file = (status: string, tests: number) => ({
  status,
  assertionResults: Array.from({ length: tests }, () => ({}))
})

describe("a run counts as failed", () => {
  test("when it left no report", () => {
    expect(tally(undefined)).toEqual({ passed: 0, failed: 1 })
  })

  test("for every test that did not pass, skipped ones included", () => {
    const report = { success: false, numTotalTests: 5, numPassedTests: 3, testResults: [file("failed", 5)] }
    expect(tally(report)).toEqual({ passed: 3, failed: 2 })
  })

  test("for every file that could not be collected", () => {
    const report = {
      success: false,
      numTotalTests: 2,
      numPassedTests: 2,
      testResults: [file("passed", 2), file("failed", 0)]
    }
    expect(tally(report)).toEqual({ passed: 2, failed: 1 })
  })

  test("when all tests passed and something else went wrong, such as an unhandled rejection", () => {
    const report = { success: false, numTotalTests: 1, numPassedTests: 1, testResults: [file("passed", 1)] }
    expect(tally(report)).toEqual({ passed: 1, failed: 1 })
  })
})

test("a run where everything passed ends with no failures", () => {
  const report = { success: true, numTotalTests: 4, numPassedTests: 4, testResults: [file("passed", 4)] }
  expect(tallyLine(tally(report))).toBe("4 passed, 0 failed")
})
