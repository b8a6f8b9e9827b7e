import { describe, expect, test } from "vitest"
import { type RunFile, sumOf, tally, tallyLine, tallyOf } from "../../verify/tally.ts"

const file = (states: ReadonlyArray<string>, name = "packages/chat/test/a.test.ts", collected = true): RunFile => ({
  name: `/anywhere/${name}`,
  collected,
  states
})
const browserFile = "apps/playground/test/browser/page.test.ts"

test.each([
  ["that ran no file counts as failed", [], true, "0 passed, 1 failed"],
  [
    "counts every test as failed that did not pass, skipped ones included",
    [file(["passed", "passed", "failed", "pending"]), file(["skipped", "passed"])],
    true,
    "3 passed, 3 failed"
  ],
  [
    "counts every file as failed that could not be collected",
    [file(["passed", "passed"]), file([], "a.test.ts", false), file([], browserFile, false)],
    true,
    "2 passed, 2 failed"
  ],
  ["counts as failed when only something else went wrong", [file(["passed"])], false, "1 passed, 1 failed"],
  [
    "counts a browser test as failed that was skipped beside others that ran",
    [file(["skipped", "skipped", "passed"], browserFile)],
    true,
    "1 passed, 2 failed"
  ],
  [
    "counts the browser tests of a machine without a browser as skipped, which fails nothing",
    [file(["passed", "passed"]), file(["skipped", "skipped", "skipped"], browserFile)],
    true,
    "2 passed, 0 failed, 3 skipped"
  ],
  ["where everything passed ends with no failures", [file(["passed"])], true, "1 passed, 0 failed"]
])("a run %s", (_, files, isClean, line) => {
  expect(tallyLine(tally(files, isClean))).toBe(line)
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
