import { describe, expect, test } from "vitest"
import * as Codec from "../../src/session/Codec.ts"
import { runToolCalls, streamToolCalls, type ToolRunnerOptions } from "../../src/session/ToolRunner.ts"
import type { Event } from "../../src/events/Event.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { toolOutcome } from "../../src/call/toolOutcome.ts"
import { text } from "../../src/model/Message.ts"
import { error, halt, ok } from "../../src/values/HandlerResult.ts"
import { json } from "../../src/values/ToolResultEncoder.ts"
import { handling } from "../double/scripts.ts"

const toolCall = { id: "c0", name: "shot", arguments: {} }
const image = { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" } } as const
const shot = [{ type: "text", text: "The page" }, image, { type: "json", value: { links: 2 } }]
const content = [{ type: "text", text: "The page" }, image, { type: "text", text: '{"links":2}' }]
const said = 'The page\n[image image/png, 8 B]\n{"links":2}'

const run = async (returned: unknown, options: ToolRunnerOptions = {}) => {
  const events: Array<Event> = []
  for await (const event of streamToolCalls([toolCall], [handling("shot", () => returned as never)], options)) {
    events.push(event)
  }
  const { messages, halt: halted } = await runToolCalls(
    [toolCall],
    [handling("shot", () => returned as never)],
    options
  )
  return { message: messages[0], halted, last: events.at(-1) }
}

describe("TOUT3 the tool message of a result with parts", () => {
  test("has the parts in order, and the event has their text beside them", async () => {
    const { message, last } = await run(ok(shot))
    expect(message).toEqual({ role: "tool", toolCallId: "c0", content, outcome: "completed" })
    expect(last).toEqual({ type: "tool_result_encoded", id: "c0", content: said, parts: content })
    expect(text(message ?? { role: "system", content: "" })).toBe(said)
  })

  test("is the same for a halt, and for a value instead of a failure", async () => {
    const halted = await run(halt("enough", shot))
    expect(halted.message).toMatchObject({ content, outcome: "completed" })
    expect(halted.last).toMatchObject({ type: "tool_halt", result: shot, content: said, parts: content })
    const replaced = await run(error("no"), { onToolError: () => ({ continue: shot }) })
    expect(replaced.message).toMatchObject({ content, outcome: "failed" })
  })

  test("does not change when the handler changes its parts later", async () => {
    const part = { type: "image", image: { base64: "AAAA", mediaType: "image/png" } }
    const { message } = toolOutcome(toolCall, ok([part]), { toolResultEncoder: json })
    part.image.base64 = "BBBB"
    expect(message.content).toEqual([{ type: "image", image: { base64: "AAAA", mediaType: "image/png" } }])
  })

  test("COLL1 a fold of the events has the same message, and ignores malformed parts", async () => {
    const { last } = await run(ok(shot))
    const collector = new StreamCollector({ messages: [] })
    if (last !== undefined) collector.apply(last)
    collector.apply({ type: "tool_result_encoded", id: "c1", content: "x", parts: [{ type: "no" }] } as never)
    expect(collector.toolResults.map((result) => result.content)).toEqual([content, "x"])
  })
})

test("RCONT1 the encoder writes each text and each JSON value of a result with parts", async () => {
  const toolResultEncoder = { encode: (value: unknown) => json.encode(value).replaceAll("secret", "***") }
  const { message } = await run(ok([{ type: "text", text: "a secret" }, image, { type: "json", value: ["secret"] }]), {
    toolResultEncoder
  })
  expect(message?.content).toEqual([{ type: "text", text: "a ***" }, image, { type: "text", text: '["***"]' }])
  const wrong = await run(ok([{ type: "text", text: "a" }]), { toolResultEncoder: { encode: () => 7 as never } })
  expect(wrong.message?.content).toContain("the encoder returned 7; return a string")
})

test.each([
  ["invalid base64", { type: "image", image: { base64: "%%%", mediaType: "image/png" } }, "unresolvable image"],
  [
    "a URL that no provider reads",
    { type: "image", image: { url: "file:///etc/hosts" } },
    "must be an http https or data url"
  ],
  [
    "an image of another type",
    { type: "image", image: { base64: "AAAA", mediaType: "text/html" } },
    "media type of an image"
  ],
  [
    "a part that cannot be stored",
    { type: "text", text: "a", metadata: { at: () => 1 } },
    "a part cannot be stored: 1.metadata.at is function"
  ],
  ["JSON without a form", { type: "json", value: new Map() }, "Object.fromEntries(map)"]
])("RCONT2 %s fails the call, and the model reads what to return", async (_, part, why) => {
  const { message, last } = await run(ok([image, part]))
  expect(message).toMatchObject({ outcome: "failed" })
  expect(message?.content).toContain("encoding_failed")
  expect(message?.content).toContain(why)
  expect(last).not.toHaveProperty("parts")
})

describe("RCONT3 a failure whose error has parts", () => {
  test("has its text, and then the images and files of the error", async () => {
    const { message, last } = await run(error([{ type: "text", text: "No such button" }, image]))
    const failure = '{"error":"No such button\\n[image image/png, 8 B]"}'
    const parts = [{ type: "text", text: failure }, image]
    expect(message).toMatchObject({ outcome: "failed", content: parts })
    expect(last).toMatchObject({ content: `${failure}\n[image image/png, 8 B]`, parts })
  })

  test("is text if it has only texts, or if its files are too large", async () => {
    const texts = await run(
      error([
        { type: "text", text: "No" },
        { type: "json", value: 1 }
      ])
    )
    expect(texts.message?.content).toBe('{"error":"No\\n1"}')
    const large = { type: "image", image: { base64: "A".repeat(4_000), mediaType: "image/png" } }
    const { message } = await run(error([large]), { maxFileBytes: 1_000 })
    expect(message?.content).toBe('{"error":"[image image/png, 3 kB]"}')
  })

  test("is reported to the error policy with its parts, and halts with its files", async () => {
    const seen: Array<unknown> = []
    await run(error([image]), { onToolError: (_, reason) => (seen.push(reason), "continue" as never) })
    expect(seen[0]).toEqual([image])
    const { message, halted } = await run(error([image]), { onToolError: "halt" })
    expect(halted).toMatchObject({ type: "tool_error", error: [image] })
    expect(message?.content).toEqual([expect.anything(), image])
  })
})

describe("TOUT5 RESULT2 MEDIA3 the data of images and files has a bound of its own", () => {
  const sized = (characters: number) => [
    { type: "image", image: { base64: "A".repeat(characters), mediaType: "image/png" } }
  ]

  test("a result with a larger image fails its call, and the model reads what to return", async () => {
    const { message, last } = await run(ok(sized(1_336)), { maxFileBytes: 1_000 })
    expect(message).toMatchObject({ outcome: "failed" })
    expect(message?.content).toContain("have 1002 bytes, and at most 1000 are allowed; return fewer or smaller ones")
    expect(last).not.toHaveProperty("parts")
    expect((await run(ok(sized(1_332)), { maxFileBytes: 1_000 })).message).toMatchObject({ outcome: "completed" })
  })

  test("the sum of all images counts, and the text has its own bound", async () => {
    const parts = [...sized(400), ...sized(400), { type: "text", text: "x".repeat(400) }]
    expect((await run(ok(parts), { maxFileBytes: 599 })).message?.outcome).toBe("failed")
    expect((await run(ok(parts), { maxFileBytes: 600 })).message?.outcome).toBe("completed")
    expect((await run(ok(parts), { maxToolResultCharacters: 399 })).message?.outcome).toBe("failed")
  })

  test("a screenshot of 5 MB is a result by default", async () => {
    expect((await run(ok(sized(6_666_668)))).message?.outcome).toBe("completed")
  })
})

test("a Codec row of the event and of the result keeps the parts", async () => {
  const { last } = await run(halt("enough", shot))
  if (last === undefined) throw new Error("no event")
  expect(Codec.decode("Event", Codec.encode("Event", last))).toEqual(last)
})

test("a text that a hook adds follows the parts", async () => {
  const hooks = {
    PostToolUse: [
      ({ result }: { readonly result: string }) => ({ type: "augment", text: `read ${result.length}` }) as const
    ]
  }
  const { message, last } = await run(ok(shot), { hooks })
  expect(message?.content).toEqual([...content, { type: "text", text: `\nread ${said.length}` }])
  expect(last).toMatchObject({ content: `${said}\n\nread ${said.length}` })
})
