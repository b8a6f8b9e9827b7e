import { expect, test } from "vitest"
import {
  AdapterError,
  EngineError,
  SessionError,
  StreamError,
  ToolError,
  ValidationError
} from "../../src/errors/ChatError.ts"

test.each([
  ["AdapterError", AdapterError.reasons, (reason: never) => new AdapterError(reason)],
  ["EngineError", EngineError.reasons, (reason: never) => new EngineError(reason)],
  ["StreamError", StreamError.reasons, (reason: never) => new StreamError(reason)],
  ["ToolError", ToolError.reasons, (reason: never) => new ToolError(reason)],
  ["ValidationError", ValidationError.reasons, (reason: never) => new ValidationError(reason, [])],
  ["SessionError", SessionError.reasons, (reason: never) => new SessionError(reason)]
])("a %s has one of its reasons, and no other", (name, reasons, make) => {
  for (const reason of reasons) {
    const error = make(reason as never)
    expect(error).toMatchObject({ _tag: name, name, reason })
    expect(error.message, "a sentence, not a code").toMatch(/^[A-Z]\w* \w/)
  }
  expect(() => make("no_such_reason" as never)).toThrow(TypeError)
})

test("the errors of a ValidationError are a list", () => {
  expect(() => new ValidationError("invalid_request", "x" as never)).toThrow(TypeError)
})
