import { ok } from "@troupe/chat"
import { expect, test } from "vitest"
import { handlerResult } from "../../src/tools/mcpResult.ts"

const data = "A".repeat(200_000)
const image = { type: "image", data, mimeType: "image/png" } as const
const part = { type: "image", image: { base64: data, mediaType: "image/png" } }

test.each([
  ["in a wrapper", { result: image }, { result: { ...image, data: "[the image/png of this result]" } }],
  ["in a list", { shots: [{ data }], count: 1 }, { shots: [{ data: "[the image/png of this result]" }], count: 1 }],
  ["as a data URL", { url: `data:image/png;base64,${data}` }, { url: "[the image/png of this result]" }]
])(
  "MCPR3 a structured result that repeats an image %s has a short text instead, and the image is sent once",
  (_, structuredContent, value) => {
    expect(handlerResult({ content: [image], structuredContent })).toEqual(ok([{ type: "json", value }, part]))
  }
)

test("MCPR2 a text that repeats the structure with the image is left out", () => {
  const structuredContent = { result: image }
  const repeated = { type: "text", text: JSON.stringify(structuredContent) } as const
  const { value } = handlerResult({ content: [repeated, image], structuredContent }) as {
    readonly value: ReadonlyArray<unknown>
  }
  expect(value).toHaveLength(2)
  expect(JSON.stringify(value[0]).length).toBeLessThan(200)
})

test("MCPR3 other texts of a structured result stay", () => {
  const structuredContent = { title: "A chart", points: [1, 2] }
  expect(handlerResult({ content: [image], structuredContent })).toEqual(
    ok([{ type: "json", value: structuredContent }, part])
  )
})
