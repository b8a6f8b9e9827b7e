import { describe, expect, test } from "vitest"
import { childFlags, placeNodeOptions, threadFlags } from "../src/placeFlags.ts"

describe.each([
  ["a thread", threadFlags],
  ["a child", childFlags]
])("FLAG1 of the flags of its host %s gets", (_, flagsOf) => {
  test.each([
    ["the modules that are loaded first", "--import ./a.mjs --require ./b.cjs -r c --import=d --loader ./e.mjs"],
    [
      "how types are removed",
      "--experimental-strip-types --no-experimental-strip-types --experimental-transform-types"
    ],
    ["how modules are found", "-C dev --conditions=test --preserve-symlinks --preserve-symlinks-main"],
    ["how errors are shown", "--enable-source-maps --no-warnings --disable-warning ExperimentalWarning"],
    ["what it may not do", "--permission --allow-fs-read=/a --allow-fs-write /b --frozen-intrinsics"],
    ["a name with underscores", "--experimental_strip_types"]
  ])("%s", (_of, words) => {
    expect(flagsOf(words.split(" "))).toEqual(words.split(" "))
  })

  test.each([
    "-e code",
    "--eval code",
    "--eval=code",
    "-p code",
    "-pe code",
    "--print=code",
    "--input-type=module",
    "--input-type module",
    "--env-file=.env",
    "--env-file .env",
    "--env_file=.env",
    "--env-file-if-exists=.env",
    "--test",
    "--test-reporter spec",
    "--check",
    "-c",
    "-i",
    "--interactive",
    "--watch",
    "--watch-path ./src",
    "--inspect",
    "--inspect-brk=0",
    "--inspect-port 9229",
    "--run start",
    "--build-snapshot",
    "--experimental-sea-config a.json",
    "--experimental-config-file=a.json",
    "--cpu-prof",
    "--max-old-space-size=9000",
    "--title=host"
  ])("not %s", (words) => {
    expect(flagsOf(["--import", "a", ...words.split(" "), "--import=b"])).toEqual(["--import", "a", "--import=b"])
  })
})

test("FLAG1 a child gets flags that a thread shares with its host", () => {
  const flags = ["--stack-size=900", "--disable-proto=delete", "--disallow-code-generation-from-strings"]
  expect(childFlags(flags)).toEqual(flags)
  expect(threadFlags(flags)).toEqual([])
})

test.each([
  ["", ""],
  ["--inspect-brk=0  --import ./a.mjs --max-old-space-size=9000", "--import ./a.mjs"],
  ['--require "./with space.cjs" --env-file="a b"', '--require "./with space.cjs"'],
  ['"--import=./with \\" quote.mjs" "--inspect"', '"--import=./with \\" quote.mjs"']
])("FLAG1 of NODE_OPTIONS %j a place gets %j", (options, passed) => {
  expect(placeNodeOptions(options)).toBe(passed)
})
