import { describe, expect, test } from "vitest"
import { tally, tallyLine, tallyOf } from "../../verify/tally.ts"

const file = (status: string, tests: number, each = "passed", name = "packages/chat/test/a.test.ts") => ({
  name: `/anywhere/${name}`,
  status,
  assertionResults: Array.from({ length: tests }, () => ({ status: each }))
})
const browserFile = "apps/playground/test/browser/page.test.ts"

describe("a run counts as failed", () => {
  test("when it left no report", () => {
    expect(tally(undefined)).toEqual({ passed: 0, failed: 1, notRun: 0 })
  })

  test("for every test that did not pass, skipped ones included", () => {
    const testResults = [file("failed", 3), file("passed", 2, "skipped")]
    const report = { success: true, numTotalTests: 5, numPassedTests: 3, testResults }
    expect(tally(report)).toEqual({ passed: 3, failed: 2, notRun: 0 })
  })

  test("for every file that could not be collected", () => {
    const report = {
      success: false,
      numTotalTests: 2,
      numPassedTests: 2,
      testResults: [file("passed", 2), file("failed", 0), file("failed", 0, "passed", browserFile)]
    }
    expect(tally(report)).toEqual({ passed: 2, failed: 2, notRun: 0 })
  })

  test("when all tests passed and something else went wrong, such as an unhandled rejection", () => {
    const report = { success: false, numTotalTests: 1, numPassedTests: 1, testResults: [file("passed", 1)] }
    expect(tally(report)).toEqual({ passed: 1, failed: 1, notRun: 0 })
  })

  test("for a browser test that was skipped beside others that ran", () => {
    const mixed = { ...file("passed", 2, "skipped", browserFile) }
    const report = {
      success: true,
      numTotalTests: 3,
      numPassedTests: 1,
      testResults: [{ ...mixed, assertionResults: [...mixed.assertionResults, { status: "passed" }] }]
    }
    expect(tally(report)).toEqual({ passed: 1, failed: 2, notRun: 0 })
  })
})

test("the browser tests of a machine without a browser are counted as not run, and fail nothing", () => {
  const testResults = [file("passed", 4), file("passed", 3, "skipped", browserFile)]
  const counted = tally({ success: true, numTotalTests: 7, numPassedTests: 4, testResults })
  expect(counted).toEqual({ passed: 4, failed: 0, notRun: 3 })
  expect(tallyLine(counted)).toBe("4 passed, 0 failed, 3 skipped")
})

test("a run where everything passed ends with no failures", () => {
  const report = { success: true, numTotalTests: 4, numPassedTests: 4, testResults: [file("passed", 4)] }
  expect(tallyLine(tally(report))).toBe("4 passed, 0 failed")
})

describe("FULL1. a slow check counts", () => {
  test("what its last tally line says", () => {
    expect(tallyOf("1 passed, 0 failed\nok     a (0.1 s)\n7 passed, 2 failed\n", false)).toEqual({
      passed: 7,
      failed: 2,
      notRun: 0
    })
  })

  test("as one failure when it has no tally line", () => {
    expect(tallyOf("ok     a (0.1 s)\n", true)).toEqual({ passed: 0, failed: 1, notRun: 0 })
  })

  test("as one failure more when it failed and counted none", () => {
    expect(tallyOf("7 passed, 0 failed\n", false)).toEqual({ passed: 7, failed: 1, notRun: 0 })
  })
})
