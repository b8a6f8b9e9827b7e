import { expect, test } from "vitest"
import { isHalted } from "../src/ChatResult.ts"

test.each([
  ["completed", false],
  ["halt_when", true],
  ["tool_error", true],
  ["a word of its own", true]
])("whether a chat that ended with %j was halted: %j", (haltedReason, halted) => {
  const result = { thread: { messages: [] }, finalResponse: undefined, steps: [], pendingToolCalls: [], metadata: {} }
  expect(isHalted({ ...result, haltedReason })).toBe(halted)
})
