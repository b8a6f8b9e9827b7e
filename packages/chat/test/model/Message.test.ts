import { describe, expect, test } from "vitest"
import { ToolError, ValidationError } from "../../src/errors/ChatError.ts"
import type { ContentPart } from "../../src/model/messageShapes.ts"
import { assistant, system, toolResult, user } from "../../src/model/Message.ts"
import * as Validate from "../../src/model/Validate.ts"

const refusal = (call: () => unknown): unknown => {
  try {
    return call()
  } catch (thrown) {
    return thrown instanceof ValidationError ? thrown.errors : thrown
  }
}

const parts: ReadonlyArray<ContentPart> = [{ type: "text", text: "a" }]
const circular: Record<string, unknown> = {}
circular["self"] = circular

describe("D31 the answer to a call is a valid message", () => {
  test.each([
    ["text, as it is", "21", "21"],
    ["content parts, as they are", parts, parts],
    ["an object, as JSON", { a: [1] }, '{"a":[1]}'],
    ["a list that is not of content parts", [1, "a"], '[1,"a"]'],
    ["an empty list", [], "[]"],
    ["a number", 7, "7"],
    ["nothing", undefined, "null"],
    ["an error, by its reason", new ToolError("denied", { message: "No." }), '{"error":"denied: No."}']
  ])("from %s", (_, result, content) => {
    const message = toolResult("c", result)
    expect(message).toEqual({ role: "tool", toolCallId: "c", content })
    expect(Validate.message(message)).toBeUndefined()
  })

  test.each([
    ["a cycle", circular],
    ["a bigint", 1n],
    ["a function", () => 1]
  ])("or is refused: %s", (_, result) => {
    expect(refusal(() => toolResult("c", result))).toEqual([{ field: ["content"], reason: "unencodable" }])
  })

  test("a call has an id", () => {
    expect(refusal(() => toolResult(undefined as never, "x"))).toEqual([
      { field: ["tool_call_id"], reason: "required" }
    ])
  })
})

test.each([
  [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }, '{ type: "image", image: { url } }'],
  [{ type: "image", url: "https://example.com/a.png" }, '{ type: "image", image: { url } }'],
  [{ type: "image", image: "iVBO" }, '{ type: "image", image: { base64, mediaType } }'],
  [{ type: "image", image: { base64: "iVBO" } }, '{ type: "image", image: { base64, mediaType } }'],
  [{ type: "file", data: "JVBE", mediaType: "application/pdf" }, '{ type: "file", file: { base64 }, mediaType }'],
  [{ type: "input_text", text: "Hi" }, '{ type: "text", text }'],
  [{ type: "image", image: { base64: "data:image/png;base64,iVBO", mediaType: "image/png" } }, "without a data: prefix"]
])("when a part is invalid, the message of the error has the right form: %j", (part, form) => {
  expect(() => user([part] as never)).toThrow(form)
})

test("D31 no helper makes an invalid message", () => {
  expect(refusal(() => user(7 as never))).toEqual([{ field: ["content"], reason: "invalid_type" }])
  expect(refusal(() => user([{ type: "text" }] as never))).toEqual([
    { field: ["content"], reason: "invalid_part_type" }
  ])
  expect(refusal(() => system({} as never))).toEqual([{ field: ["content"], reason: "invalid_type" }])
  expect(refusal(() => assistant(undefined as never))).toEqual([{ field: ["content"], reason: "invalid_type" }])
  expect(refusal(() => user([{ type: "image", image: { base64: "?", mediaType: "image/png" } }]))).toEqual([
    { field: ["content", 0], reason: "unresolvable_image" }
  ])
})
