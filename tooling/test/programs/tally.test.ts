import { describe, expect, test } from "vitest"
import { type RunFile, sumOf, tally, tallyLine, tallyOf } from "../../verify/tally.ts"

const file = (states: ReadonlyArray<string>, name = "packages/chat/test/a.test.ts", collected = true): RunFile => ({
  name: `/anywhere/${name}`,
  collected,
  states
})
const browserFile = "apps/playground/test/browser/page.test.ts"

describe("a run counts as failed", () => {
  test("when it ran no file", () => {
    expect(tally([], true)).toEqual({ passed: 0, failed: 1, notRun: 0 })
  })

  test("for every test that did not pass, skipped ones included", () => {
    const run = [file(["passed", "passed", "failed", "pending"]), file(["skipped", "passed"])]
    expect(tally(run, true)).toEqual({ passed: 3, failed: 3, notRun: 0 })
  })

  test("for every file that could not be collected", () => {
    const run = [file(["passed", "passed"]), file([], "a.test.ts", false), file([], browserFile, false)]
    expect(tally(run, true)).toEqual({ passed: 2, failed: 2, notRun: 0 })
  })

  test("when all tests passed and something else went wrong, such as an unhandled rejection", () => {
    expect(tally([file(["passed"])], false)).toEqual({ passed: 1, failed: 1, notRun: 0 })
  })

  test("for a browser test that was skipped beside others that ran", () => {
    expect(tally([file(["skipped", "skipped", "passed"], browserFile)], true)).toEqual({
      passed: 1,
      failed: 2,
      notRun: 0
    })
  })
})

test("the browser tests of a machine without a browser are counted as skipped, and fail nothing", () => {
  const run = tally([file(["passed", "passed"]), file(["skipped", "skipped", "skipped"], browserFile)], true)
  expect(run).toEqual({ passed: 2, failed: 0, notRun: 3 })
  expect(tallyLine(run)).toBe("2 passed, 0 failed, 3 skipped")
})

test("a run where everything passed ends with no failures", () => {
  expect(tallyLine(tally([file(["passed"])], true))).toBe("1 passed, 0 failed")
})

describe("FULL1. a counted check counts", () => {
  test("what its last tally line says", () => {
    const output = "1 passed, 0 failed\nok     a (0.1 s)\n7 passed, 2 failed, 3 skipped\n"
    expect(tallyOf(output, false)).toEqual({ passed: 7, failed: 2, notRun: 3 })
  })

  test("as one failure when it has no tally line", () => {
    expect(tallyOf("ok     a (0.1 s)\n", true)).toEqual({ passed: 0, failed: 1, notRun: 0 })
  })

  test("as one failure more when it failed and counted none", () => {
    expect(tallyOf("7 passed, 0 failed\n", false)).toEqual({ passed: 7, failed: 1, notRun: 0 })
  })

  test("beside the other checks in the sum", () => {
    const sum = sumOf([tallyOf("7 passed, 1 failed\n", false), tallyOf("2 passed, 0 failed, 4 skipped\n", true)])
    expect(tallyLine(sum)).toBe("9 passed, 1 failed, 4 skipped")
  })
})
