import { expect, test } from "vitest"
import { closestName } from "../../src/errors/closestName.ts"

const tools = ["read", "glob", "grep", "get_weather"]

test.each([
  ["read_file", "read"],
  ["raed", "read"],
  ["Grep", "grep"],
  ["getWeather", "get_weather"],
  ["get_weathr", "get_weather"],
  ["read", "read"]
])("%s may mean %s", (name, meant) => {
  expect(closestName(name, tools)).toBe(meant)
})

test.each(["launch", "", "x", "z".repeat(129)])("%j is like no tool", (name) => {
  expect(closestName(name, tools)).toBeUndefined()
})

test("of names that are as like the first is taken, and no name gives none", () => {
  expect(closestName("tool_c", ["tool_a", "tool_b"])).toBe("tool_a")
  expect(closestName("read", [])).toBeUndefined()
})
