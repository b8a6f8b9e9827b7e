import { expect, test } from "vitest"
import { askUser, error, halt, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { toolOutcome } from "../../src/call/toolOutcome.ts"
import { json, type ToolResultEncoder } from "../../src/values/ToolResultEncoder.ts"
import type { OnToolError } from "../../src/options/callPolicy.ts"

const toolCall = { id: "c0", name: "t", arguments: {} }
const unspeakable: object = Object.assign(Object.create(null) as object, { big: 1n })

const raise = (): never => {
  throw unspeakable
}

/** Throws at whatever is asked of it. */
const hostile: object = new Proxy({}, { get: raise, has: raise, ownKeys: raise, getPrototypeOf: raise })

const results: ReadonlyArray<HandlerResult> = [
  ok("x"),
  ok(unspeakable),
  ok(() => 1),
  ok(hostile),
  error(hostile),
  askUser("q", { pick: () => 1 }),
  error("no"),
  error(unspeakable),
  error(undefined),
  askUser("q"),
  halt("done", 1),
  halt("done", unspeakable),
  halt("completed", 1)
]

const policies: ReadonlyArray<OnToolError | undefined> = [
  undefined,
  "continue",
  "halt",
  () => "halt",
  () => ({ continue: 1 }),
  () => ({ continue: unspeakable }),
  raise,
  () => ({ continue: hostile }),
  () => ({
    get continue() {
      return raise()
    }
  }),
  (() => hostile) as unknown as OnToolError,
  (() => unspeakable) as unknown as OnToolError
]

const encoders: ReadonlyArray<ToolResultEncoder> = [
  json,
  { encode: raise },
  { encode: () => hostile as unknown as string },
  { encode: () => 7 as unknown as string },
  { encode: () => "text" }
]

test("TOUT1, TOUT3 no fault of a policy, an encoder or a value escapes, and every call has one message and three events", () => {
  for (const result of results) {
    for (const onToolError of policies) {
      for (const toolResultEncoder of encoders) {
        const outcome = toolOutcome(toolCall, result, { onToolError, toolResultEncoder })
        expect(outcome.message).toMatchObject({ role: "tool", toolCallId: "c0", content: expect.any(String) as string })
        expect(outcome.events.map(({ type }) => type).slice(0, 2)).toEqual([
          "tool_execution_started",
          "tool_execution_completed"
        ])
        const last = outcome.events[2]
        if ("content" in last) expect(last.content).toBe(outcome.message.content)
        expect(last.type === "tool_result_encoded").toBe(outcome.halt === undefined)
      }
    }
  }
})

test("TOUT2 a policy is asked at most once for a call, and never about its own faults", () => {
  for (const result of results) {
    for (const toolResultEncoder of encoders) {
      for (const decide of policies.filter((policy) => typeof policy === "function")) {
        let asked = 0
        const onToolError: OnToolError = (call, reason) => {
          asked++
          return decide(call, reason)
        }
        toolOutcome(toolCall, result, { onToolError, toolResultEncoder })
        expect(asked).toBeLessThanOrEqual(1)
      }
    }
  }
})

test("TOUT2 a success and a question ask no policy", () => {
  const onToolError = () => {
    throw new Error("asked")
  }
  for (const result of [ok(1), askUser("q"), halt("done", 1)]) {
    expect(toolOutcome(toolCall, result, { onToolError, toolResultEncoder: json }).halt?.type).not.toBe("tool_error")
  }
})

test("a question whose options have no JSON form is an `encoding_failed` error that names them", () => {
  const { halt: halted, message } = toolOutcome(toolCall, askUser("q", { pick: { by: () => 1 } }), {
    toolResultEncoder: json
  })
  expect(halted).toBeUndefined()
  expect(message.content).toContain("encoding_failed: the question's options have no JSON form: pick.by function")
})
