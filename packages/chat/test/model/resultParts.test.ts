import { describe, expect, test } from "vitest"
import { text, toolResult, user } from "../../src/model/Message.ts"
import { resultParts } from "../../src/model/resultParts.ts"
import type { ContentPart } from "../../src/model/messageShapes.ts"

const image = { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" } } as const
const link = { type: "image", image: { url: "https://example.com/a.png" } } as const
const file = {
  type: "file",
  file: { base64: "JVBERi0xLjc=" },
  mediaType: "application/pdf",
  filename: "a.pdf"
} as const
const json = { type: "json", value: { degrees: 21 } } as const

describe("TPART1 a list is the parts of a result", () => {
  test.each([
    ["for one text", [{ type: "text", text: "a" }]],
    ["for every kind of part, in order", [json, image, { type: "text", text: "a", metadata: {} }, file, link]]
  ])("%s", (_, value) => {
    expect(resultParts(value)).toBe(value)
  })

  test.each([
    ["no list", image],
    ["an empty list", []],
    ["a list with another value", [image, "a"]],
    ["a list with a hole", Object.assign([], { 1: image })],
    ["a list of records of the tool's own, with more fields", [{ type: "text", text: "a", author: "Ada" }]],
    ["an image in another form", [{ type: "image", data: "AA==", mediaType: "image/png" }]],
    ["reasoning, which is no part of a result", [{ type: "reasoning", text: "hm" }]],
    ["a kind that every object has", [{ type: "toString" }]],
    ["JSON without a value", [{ type: "json" }]],
    ["JSON with metadata", [{ type: "json", value: 1, metadata: {} }]]
  ])("but not for %s", (_, value) => {
    expect(resultParts(value)).toBeUndefined()
    expect(toolResult("c", value).content).toBe(JSON.stringify(value))
  })
})

test("TPART2 a tool message has a copy of the parts in their order, with JSON as text", () => {
  const metadata = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }
  const said = { type: "text", text: "look", metadata }
  const { content } = toolResult("c", [said, image, json, link])
  expect(content).toEqual([said, image, { type: "text", text: '{"degrees":21}' }, link])
  expect((content[0] as ContentPart).metadata).not.toBe(metadata)
})

test("TPART3 the text of a tool message has a line for each part; other messages have no text about files", () => {
  const parts: Array<ContentPart> = [{ type: "text", text: "look" }, image, { type: "text", text: "" }, file]
  expect(text(toolResult("c", [...parts, json]))).toBe(
    'look\n[image image/png, 8 B]\n[file application/pdf, a.pdf, 8 B]\n{"degrees":21}'
  )
  expect(text(user(parts))).toBe("look")
})

test.each([
  ["[image image/png, 12 kB]", { ...image, image: { base64: "A".repeat(16_000), mediaType: "image/png" } }],
  ["[image image/gif, 1.5 MB]", { ...image, image: { url: `data:image/gif;base64,${"A".repeat(2_000_000)}` } }],
  ["[image https://example.com/a.png]", link],
  ["[file audio/wav, 3 B]", { type: "file", file: { base64: "AAAA" }, mediaType: "audio/wav" } as const]
])("a short text about a file: %s", (said, part) => {
  expect(text({ role: "tool", toolCallId: "c", content: [part] })).toBe(said)
})
