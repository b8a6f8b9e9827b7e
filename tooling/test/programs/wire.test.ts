import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { closingText } from "../../wire/closing.ts"
import { block, chunk, messageEnd, messageStart } from "../../wire/dialects.ts"
import { readRecording } from "../../wire/recording.ts"
import { type Line, replay } from "../../wire/replay.ts"

let folder = ""

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "wire-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const replayed = async (file: string, ...lines: ReadonlyArray<unknown>): Promise<Line> => {
  const path = join(folder, file)
  writeFileSync(path, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"))
  const line = await replay(path, file)
  rmSync(path)
  return line
}

const call = { index: 0, id: "call-1", type: "function", function: { name: "find", arguments: '{"q":"owl"}' } }
const start = messageStart({ input_tokens: 2, output_tokens: 1 })
const answered = { error: null, finalText: closingText, openConnections: 0 }

describe("a recorded call is executed and answered", () => {
  test.each(["openai", "mistral", "groq", "deepseek", "openai-compatible", "xai"])(
    "in chat completions of %s",
    async (name) => {
      const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
      const line = await replayed(
        `${name}--call.txt`,
        chunk({ tool_calls: [call] }),
        chunk({}, "tool_calls", { usage })
      )
      expect(line).toMatchObject({
        provider: name,
        toolCalls: [{ id: "call-1", name: "find", arguments: { q: "owl" } }],
        finishReason: "tool_calls",
        ...answered
      })
      expect(line.events.filter((tag) => tag === "step_completed")).toHaveLength(2)
      expect(line.events.at(-1)).toBe("chat_completed")
    }
  )

  test.each(["openai", "mistral", "groq", "deepseek", "litellm", "ollama"])(
    "PART4. in chat completions of %s, also with the finish reason stop, an unknown one, and none",
    async (name) => {
      const replies = [
        [chunk({ tool_calls: [call] }), chunk({}, "stop"), "[DONE]"],
        [chunk({ tool_calls: [call] }, "stop"), "[DONE]"],
        [chunk({ tool_calls: [call] }), chunk({}, "eos"), "[DONE]"],
        [chunk({ tool_calls: [call] }), chunk({}), "[DONE]"]
      ]
      for (const [index, reply] of replies.entries()) {
        const line = await replayed(`${name}--${index}.txt`, ...reply)
        expect([index, line]).toMatchObject([
          index,
          { finishReason: "tool_calls", toolCalls: [{ id: "call-1" }], ...answered }
        ])
      }
    }
  )

  test("in the Responses API", async () => {
    const item = { id: "f", type: "function_call", call_id: "call-1", name: "find", arguments: "" }
    const response = { id: "r", object: "response", created_at: 1, model: "m" }
    const line = await replayed(
      "openai--responses.txt",
      { type: "response.created", response },
      { type: "response.output_item.added", output_index: 0, item },
      { type: "response.function_call_arguments.delta", item_id: "f", output_index: 0, delta: '{"q":1}' },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { ...item, arguments: '{"q":1}', status: "completed" }
      },
      { type: "response.completed", response: { ...response, usage: { input_tokens: 1, output_tokens: 2 } } }
    )
    expect(line).toMatchObject({ toolCalls: [{ name: "find", arguments: { q: 1 } }], ...answered })
  })

  test("in the Messages API", async () => {
    const line = await replayed(
      "anthropic--call.txt",
      start,
      ...block(
        0,
        { type: "tool_use", id: "t", name: "find", input: {} },
        { type: "input_json_delta", partial_json: '{"q":1}' }
      ),
      ...messageEnd("tool_use")
    )
    expect(line).toMatchObject({
      toolCalls: [{ id: "t", arguments: { q: 1 } }],
      usage: { inputTokens: 2 },
      ...answered
    })
  })

  test("in Gemini's API", async () => {
    const parts = [{ functionCall: { name: "find", args: { q: 1 } } }]
    const line = await replayed("google--call.txt", {
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }]
    })
    expect(line).toMatchObject({
      toolCalls: [{ name: "find", arguments: { q: 1 } }],
      finishReason: "tool_calls",
      ...answered
    })
  })
})

describe("a failure is reported in the line", () => {
  test.each([
    ["google--e.txt", { error: { code: 429, message: "quota", status: "RESOURCE_EXHAUSTED" } }, "rate_limited", 429],
    ["mistral--e.txt", { object: "error", message: "no", type: "auth", code: 401 }, "authentication_failed", 401],
    [
      "anthropic--e.txt",
      { type: "error", error: { type: "overloaded_error", message: "busy" } },
      "provider_unavailable",
      529
    ]
  ])("an error body: %s", async (file, body, reason, status) => {
    expect(await replayed(file, body)).toMatchObject({
      finishReason: "error",
      error: { reason, status },
      openConnections: 0
    })
  })

  test.each([
    [
      "a line that is not JSON",
      "openai--a.txt",
      [chunk({ content: "a" }), "{oops", chunk({ content: "b" }, "stop")],
      "ab"
    ],
    [
      "a reply that was cut off",
      "anthropic--a.txt",
      [start, { type: "content_block_start", index: 0, content_block: { type: "text", text: "a" } }],
      ""
    ],
    ["an empty file", "openai--b.txt", [], ""],
    ["a file of something else", "notes.txt", ["nothing", "of the kind"], ""]
  ])("%s", async (_, file, lines, text) => {
    const line = await replayed(file, ...lines)
    expect(line).toMatchObject({ finishReason: "error", error: { reason: "malformed_response" }, openConnections: 0 })
    expect(line.text).toContain(text)
  })

  test("a call cut off by the output limit, which is not executed", async () => {
    const cut = { ...call, function: { name: "find", arguments: '{"q":' } }
    const line = await replayed("openai--cut.txt", chunk({ tool_calls: [cut] }), chunk({}, "length"))
    expect(line).toMatchObject({ finishReason: "length", toolCalls: [{ arguments: null }] })
    expect(line.events).not.toContain("tool_execution_started")
  })
})

const recordings = join(import.meta.dirname, "../../../packages/providers/test/fixtures/replies")

describe("of the providers' own recordings no call and no part is lost", () => {
  test.each(readdirSync(recordings))("%s", async (file) => {
    const path = join(recordings, file)
    const line = await replay(path, file)
    const called = line.toolCalls.map(({ name }) => name)
    expect(line).toMatchObject({ error: null, openConnections: 0 })
    expect(line.finalText).toBe(called.length === 0 ? line.text : closingText)
    expect(line.parts.filter((type) => type === "tool_call")).toHaveLength(called.length)
    expect(readRecording(path).toolNames.filter((name) => name !== "echo")).toEqual([...new Set(called)])
  })
})

test("the command prints one line per recording and ends with 0", async () => {
  for (const [file, text] of [
    ["openai--one.txt", JSON.stringify(chunk({ content: "hi" }, "stop"))],
    ["groq--two.txt", "{"],
    ["README.md", "not one"]
  ] as const) {
    writeFileSync(join(folder, file), text)
  }
  const main = join(import.meta.dirname, "../../wire/main.ts")
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, folder])
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line)
  expect(lines.map(({ file, text }) => [file, text])).toEqual([
    ["groq--two.txt", ""],
    ["openai--one.txt", "hi"]
  ])
  expect(stderr).toContain("2 recordings, 1 with an error, 0 connections left open")
})
