import { expect, test } from "vitest"
import { ToolError, type ToolErrorReason } from "../../src/errors/ChatError.ts"
import { mayHaveRun, ofError, Outcome } from "../../src/model/Outcome.ts"

test("every reason of a tool error is one outcome, and everything else is a failure", () => {
  const outcomes = Object.fromEntries(
    ToolError.reasons.map((reason: ToolErrorReason) => [reason, ofError(new ToolError(reason))])
  )
  expect(outcomes).toEqual({
    handler_raised: "failed",
    handler_exit: "failed",
    timeout: "timed_out",
    invalid_return: "failed",
    not_found: "not_found",
    encoding_failed: "failed",
    result_too_large: "failed",
    invalid_arguments: "invalid",
    denied: "denied",
    cancelled: "cancelled",
    child_failed: "failed",
    child_refused: "failed",
    too_many_calls: "not_started",
    outcome_unknown: "unknown",
    task_refused: "failed"
  })
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  expect([ofError("no"), ofError(undefined), ofError(proxy)]).toEqual(["failed", "failed", "failed"])
})

test("a handler can have run unless something stood before it", () => {
  expect(Outcome.options.filter((outcome) => !mayHaveRun(outcome))).toEqual([
    "denied",
    "invalid",
    "not_found",
    "not_started"
  ])
})
