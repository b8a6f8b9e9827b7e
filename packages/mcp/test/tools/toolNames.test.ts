import { expect, test } from "vitest"
import { acceptedName, acceptedNames } from "../../src/tools/toolNames.ts"

test.each([
  ["read_file", "read_file"],
  ["repo.read file", "repo_read_file"],
  ["auto", "tool_auto"],
  ["", "tool_"],
  ["x".repeat(64), "x".repeat(64)],
  ["x".repeat(65), `${"x".repeat(55)}_b42b1787`]
])("MCPN1. the name %s is shown to the model as %s", (name, accepted) => {
  expect(acceptedName(name)).toBe(accepted)
})

test("MCPN2. names that would be equal differ, and do not depend on the order of the list", () => {
  const names = ["a.b", "a b", "a_b", "c"]
  const accepted = acceptedNames(names)
  expect(new Set(accepted.values()).size).toBe(4)
  expect([accepted.get("a_b"), accepted.get("c")]).toEqual(["a_b", "c"])
  expect(acceptedNames(names.toReversed())).toEqual(accepted)
})
