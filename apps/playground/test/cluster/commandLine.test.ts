/** The command line of `pnpm cluster`. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { expect, test } from "vitest"
import { parseCommand } from "../../src/cluster/commandLine.ts"

test("the options are read, and those that are not given have a default", () => {
  expect(parseCommand([], true)).toEqual({ open: true, leaseMs: 3_000 })
  expect(parseCommand(["--", "--no-open", "--lease", "5000"], true)).toEqual({ open: false, leaseMs: 5_000 })
})

test.each([
  [["--lease", "abc"], '--lease must be a whole number of milliseconds from 100 to 2147483647, not "abc"'],
  [["--lease=0"], '--lease must be a whole number of milliseconds from 100 to 2147483647, not "0"'],
  [["--bogus"], "Unknown option '--bogus'; the options are --lease <milliseconds>, --open and --no-open"],
  [["word"], "Unexpected argument 'word'; the options are --lease <milliseconds>, --open and --no-open"],
  [
    ["--lease"],
    "Option '--lease <value>' argument missing; the options are --lease <milliseconds>, --open and --no-open"
  ]
])("a wrong command line is refused in one line: %j", (args, message) => {
  expect(() => parseCommand(args, false)).toThrow(new Error(message))
})

test("the command ends with 1 and this line, before anything starts", () => {
  const program = join(import.meta.dirname, "../../src/cluster/main.ts")
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, "--bogus"], { encoding: "utf8" })
  expect([status, stdout]).toEqual([1, ""])
  expect(stderr).toMatch(/^cluster: Unknown option '--bogus'; [^\n]*\n$/u)
})
