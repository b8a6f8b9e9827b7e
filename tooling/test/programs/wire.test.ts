import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, describe, expect, test } from "vitest"
import { closingText } from "../../wire/closing.ts"
import { block, candidate, chunk, chunkUsage, item, messageEnd, messageStart, response } from "../../wire/dialects.ts"
import { compareLoops } from "../../wire/loops.ts"
import { readRecording } from "../../wire/recording.ts"
import { type Line, replay } from "../../wire/replay.ts"

const folder = mkdtempSync(join(tmpdir(), "wire-"))
afterAll(() => rmSync(folder, { recursive: true }))

const replayed = async (file: string, ...lines: ReadonlyArray<unknown>): Promise<Line> => {
  const path = join(folder, file)
  writeFileSync(path, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"))
  const line = await replay(path, file)
  rmSync(path)
  return line
}

const chatCall = { index: 0, id: "t", type: "function", function: { name: "find", arguments: '{"q":1}' } }
const responsesCall = { id: "f", type: "function_call", call_id: "t", name: "find", arguments: '{"q":1}' }
const argumentsDelta = { type: "response.function_call_arguments.delta", item_id: "f", delta: '{"q":1}' }
const messagesCall = { type: "tool_use", id: "t", name: "find", input: {} }
const start = messageStart({ input_tokens: 2, output_tokens: 1 })
const answered = { error: null, finalText: closingText, openConnections: 0 }
const chats = ["openai", "mistral", "groq", "deepseek", "openai-compatible", "xai"]

const compared = (file: string, ...events: ReadonlyArray<unknown>) => {
  const path = join(folder, file)
  writeFileSync(path, events.map((event) => JSON.stringify(event)).join("\n"))
  return compareLoops(path, file).finally(() => rmSync(path))
}

describe("the second request is compared with that of the AI SDK's loop", () => {
  const shell = { id: "sh", type: "shell_call", call_id: "c", action: { commands: ["ls"] } }
  const asked = { id: "mcpr", type: "mcp_approval_request", name: "find", server_label: "s", arguments: "{}" }

  test.each([
    ["a function", responsesCall],
    ["a shell", shell],
    ["an approval", asked]
  ])("after a call of %s: equal", async (_, call) => {
    expect(await compared("openai--call.txt", ...response(...item(0, call)))).toMatchObject({ verdict: "equal" })
  })

  test("a difference has its reason, and a reply without content is not compared", async () => {
    const text = (said: string) => block(0, { type: "text", text: "" }, { type: "text_delta", text: said })
    const [first, blank] = [text("Hi"), text(" ").map((event) => ({ ...(event as object), index: 1 }))]
    const reply = [messageStart(), ...first, ...blank, ...messageEnd("end_turn")]
    expect(await compared("anthropic--blank.txt", ...reply)).toMatchObject({
      verdict: "explained",
      reason: "a blank text is left out (PROMPT1)"
    })
    expect(await compared("openai--none.txt", { error: { code: 429 } })).toMatchObject({ verdict: "unread" })
  })
})

describe("a recorded call is executed and answered", () => {
  test.each([
    ...chats.map((name) => [name, [chunk({ tool_calls: [chatCall] }), chunk({}, "tool_calls", chunkUsage)]] as const),
    ["openai-responses", response(...item(0, responsesCall, argumentsDelta))] as const,
    [
      "anthropic",
      [
        start,
        ...block(0, messagesCall, { type: "input_json_delta", partial_json: '{"q":1}' }),
        ...messageEnd("tool_use")
      ]
    ] as const,
    ["google", [candidate([{ functionCall: { name: "find", args: { q: 1 } } }], { finishReason: "STOP" })]] as const
  ])("of %s", async (provider, events) => {
    const line = await replayed(`${provider}--call.txt`, ...events)
    const toolCalls = [{ name: "find", arguments: { q: 1 }, ...(provider === "google" ? {} : { id: "t" }) }]
    const usage = provider === "anthropic" ? { inputTokens: 2 } : {}
    expect(line).toMatchObject({ provider, toolCalls, finishReason: "tool_calls", usage, ...answered })
    expect(line.events.filter((tag) => tag === "step_completed")).toHaveLength(2)
    expect(line.events.at(-1)).toBe("chat_completed")
  })

  test.each(["openai", "mistral", "groq", "deepseek", "litellm", "ollama"])(
    "PART4. in chat completions of %s, also with the finish reason stop, an unknown one, and none",
    async (name) => {
      const called = { tool_calls: [chatCall] }
      const ends = [[chunk(called), chunk({}, "stop")], [chunk(called, "stop")], [chunk(called), chunk({}, "eos")]]
      for (const [index, reply] of [...ends, [chunk(called), chunk({})]].entries()) {
        const line = await replayed(`${name}--${index}.txt`, ...reply, "[DONE]")
        const expected = { finishReason: "tool_calls", toolCalls: [{ id: "t" }], ...answered }
        expect([index, line]).toMatchObject([index, expected])
      }
    }
  )
})

describe("a failure is reported in the line", () => {
  const overloaded = { type: "overloaded_error", message: "busy" }
  test.each([
    ["google", { error: { code: 429, message: "quota", status: "RESOURCE_EXHAUSTED" } }, "rate_limited", 429],
    ["mistral", { object: "error", message: "no", type: "auth", code: 401 }, "authentication_failed", 401],
    ["anthropic", { type: "error", error: overloaded }, "provider_unavailable", 529]
  ])("an error body of %s", async (provider, body, reason, status) => {
    const failed = { finishReason: "error", error: { reason, status }, openConnections: 0 }
    expect(await replayed(`${provider}--e.txt`, body)).toMatchObject(failed)
  })

  const text = { type: "text", text: "a" }
  const sayA = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a" } }
  const isOpen = { type: "content_block_start", index: 0, content_block: text }
  test.each([
    [
      "a line that is not JSON",
      "openai--a.txt",
      [chunk({ content: "a" }), "{oops", chunk({ content: "b" }, "stop")],
      "a"
    ],
    ["a reply that was cut off", "anthropic--a.txt", [start, isOpen, sayA], "a"],
    ["a file of something else", "notes.txt", ["nothing", "of the kind"], ""]
  ])("%s", async (_, file, lines, said) => {
    const line = await replayed(file, ...lines)
    expect(line).toMatchObject({ finishReason: "error", error: { reason: "malformed_response" }, openConnections: 0 })
    expect(line.text).toContain(said)
  })

  test.each([
    ["a reply that was cut off before its content", "anthropic--e.txt", [start, isOpen]],
    ["an empty file", "openai--b.txt", []]
  ])("%s", async (_, file, lines) => {
    const line = await replayed(file, ...lines)
    expect(line).toMatchObject({ finishReason: "error", error: { reason: "provider_unavailable" }, openConnections: 0 })
  })

  test("a call cut off by the output limit, which is not executed", async () => {
    const cut = { ...chatCall, function: { name: "find", arguments: '{"q":' } }
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
  const replies = { "openai--one.txt": chunk({ content: "hi" }, "stop"), "groq--two.txt": "{", "README.md": "not one" }
  for (const [file, reply] of Object.entries(replies)) writeFileSync(join(folder, file), JSON.stringify(reply))
  const main = join(import.meta.dirname, "../../wire/main.ts")
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [main, folder])
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line)
  const texts = lines.map(({ file, text }) => `${file} ${text}`)
  expect(texts).toEqual(["groq--two.txt ", "openai--one.txt hi"])
  expect(stderr).toContain("2 recordings, 1 with an error, 0 connections left open")
})
