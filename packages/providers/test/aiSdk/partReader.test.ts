import { InvalidResponseDataError, type LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { Chat, Engine, user } from "@troupe/chat"
import { type AdapterEvent, StreamCollector } from "@troupe/chat/events"
import { describe, expect, test } from "vitest"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { adapterOptions, asking, only, pull, tagsOf } from "../loopback/pulling.ts"
import { finish, modelV2, modelV3, modelV4, someUsage, streamOf } from "../loopback/scriptedModel.ts"

const say = (...parts: ReadonlyArray<LanguageModelV4StreamPart>): Promise<ReadonlyArray<AdapterEvent>> =>
  pull(aiSdk(modelV4(() => streamOf(parts))))

/** As `say`, of a provider whose streams are no chat completions. */
const sayMessages = (...parts: ReadonlyArray<LanguageModelV4StreamPart>): Promise<ReadonlyArray<AdapterEvent>> =>
  pull(aiSdk({ ...modelV4(() => streamOf(parts)), provider: "scripted.messages" }))

const word = (id: string, delta: string): ReadonlyArray<LanguageModelV4StreamPart> => [
  { type: "text-start", id },
  { type: "text-delta", id, delta },
  { type: "text-end", id }
]

describe("PART1. message_started", () => {
  test("comes first and once, with what the response said about itself before", async () => {
    const events = await say(
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "r1", modelId: "four-b" },
      ...word("t", "hi"),
      finish()
    )
    expect(tagsOf(events)).toEqual(["message_started", "text_delta", "text_completed", "message_completed"])
    expect(only(events, "message_started").metadata).toEqual({ id: "r1", model: "four-b" })
    expect(only(events, "message_completed").metadata).toBeUndefined()
  })

  test("does not wait for metadata that comes late: that goes with message_completed", async () => {
    const events = await say(...word("t", "hi"), { type: "response-metadata", id: "r1" }, finish())
    expect(only(events, "message_started").metadata).toBeUndefined()
    expect(only(events, "message_completed").metadata).toEqual({ id: "r1" })
  })

  test("comes before raw chunks that arrived earlier", async () => {
    const raw: ReadonlyArray<LanguageModelV4StreamPart> = [{ type: "raw", rawValue: 1 }, ...word("t", "hi"), finish()]
    const adapter = aiSdk(modelV4(() => streamOf(raw)))
    const events = await pull(adapter, asking(), adapterOptions({ includeRawChunks: true }))
    expect(tagsOf(events).slice(0, 2)).toEqual(["message_started", "raw_chunk"])
    expect(tagsOf(await pull(adapter))).not.toContain("raw_chunk")
  })
})

describe("PART2. message_completed", () => {
  test("comes last with text, reason, usage, provider data and warnings", async () => {
    const warnings = [{ type: "other" as const, message: "careful" }]
    const events = await say({ type: "stream-start", warnings }, ...word("a", "one "), ...word("b", "two"), {
      ...finish("length", "max"),
      providerMetadata: { scripted: { x: 1 } }
    })
    expect(only(events, "text_completed")).toEqual({ type: "text_completed", id: null, text: "one two" })
    expect(events.at(-1)).toEqual({
      type: "message_completed",
      message: {
        role: "assistant",
        content: "one two",
        parts: [
          { type: "text", text: "one " },
          { type: "text", text: "two" }
        ]
      },
      finishReason: "length",
      rawFinishReason: "max",
      usage: {
        inputTokens: 20,
        cachedInputTokens: 5,
        cacheWriteInputTokens: 3,
        outputTokens: 9,
        reasoningTokens: 2
      },
      metadata: { providerMetadata: { scripted: { x: 1 } }, warnings }
    })
  })

  test("comes without text_completed when nothing was said", async () => {
    expect(tagsOf(await say({ type: "text-delta", id: "t", delta: "" }, finish()))).toEqual([
      "message_started",
      "message_completed"
    ])
  })

  test("carries the provider's metadata of a text", async () => {
    const data = { scripted: { signature: "s" } }
    const events = await say({ type: "text-delta", id: "t", delta: "hi", providerMetadata: data }, finish())
    const parts = [{ type: "text", text: "hi", metadata: { providerMetadata: data } }]
    expect(only(events, "message_completed").message).toEqual({ role: "assistant", content: "hi", parts })
  })

  test("keeps reasoning whole, with its signature, and shows it as it comes", async () => {
    const events = await say(
      { type: "reasoning-start", id: "r" },
      { type: "reasoning-delta", id: "r", delta: "so " },
      { type: "reasoning-delta", id: "r", delta: "then" },
      { type: "reasoning-delta", id: "r", delta: "", providerMetadata: { scripted: { signature: "s" } } },
      { type: "reasoning-end", id: "r" },
      finish()
    )
    expect(events.filter(({ type }) => type === "reasoning_delta")).toEqual([
      { type: "reasoning_delta", id: "r", delta: "so " },
      { type: "reasoning_delta", id: "r", delta: "then" }
    ])
    expect(only(events, "message_completed").message.parts).toEqual([
      { type: "reasoning", text: "so then", metadata: { providerMetadata: { scripted: { signature: "s" } } } }
    ])
  })

  test("is preceded by sources and files as raw chunks", async () => {
    const events = await say(
      { type: "source", sourceType: "url", id: "s", url: "https://example.org" },
      { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AA==" } },
      finish()
    )
    expect(events.slice(1, 3)).toMatchObject([{ chunk: { type: "source" } }, { chunk: { type: "reasoning_file" } }])
  })
})

const about = (x: string) => ({ scripted: { x } })
const kept = (x: string) => ({ metadata: { providerMetadata: about(x) } })

describe("PART6. the parts of a reply", () => {
  const partsOf = async (...said: ReadonlyArray<LanguageModelV4StreamPart>) =>
    only(await say(...said, finish("tool-calls")), "message_completed").message.parts

  test("RPARTS1. are its blocks in the order they began, each with the last metadata of its provider", async () => {
    const parts = await partsOf(
      { type: "reasoning-start", id: "0", providerMetadata: about("start") },
      { type: "reasoning-delta", id: "0", delta: "think" },
      { type: "reasoning-end", id: "0", providerMetadata: about("end") },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "one" },
      { type: "text-end", id: "1", citations: [{ source: { type: "url", url: "https://example.org" } }] as never },
      { type: "text-start", id: "2" },
      { type: "text-end", id: "2" },
      { type: "text-start", id: "3", providerMetadata: about("empty") },
      { type: "text-end", id: "3" },
      { type: "tool-call", toolCallId: "c1", toolName: "add", input: "{}" },
      { type: "reasoning-start", id: "0", providerMetadata: about("again") },
      { type: "reasoning-end", id: "0" },
      { type: "tool-call", toolCallId: "c2", toolName: "add", input: "{}" },
      { type: "tool-call", toolCallId: "c2", toolName: "add", input: "{}" }
    )
    expect(parts).toEqual([
      { type: "reasoning", text: "think", ...kept("end") },
      {
        type: "text",
        text: "one",
        metadata: { citations: [{ source: { type: "url", url: "https://example.org" } }] }
      },
      { type: "text", text: "", ...kept("empty") },
      { type: "tool_call", toolCallId: "c1" },
      { type: "reasoning", text: "", ...kept("again") },
      { type: "tool_call", toolCallId: "c2" }
    ])
  })

  test("RPARTS2, RPARTS3. are files, sources, the calls that the provider ran, and every other part", async () => {
    const parts = await partsOf(
      { type: "tool-input-start", id: "s", toolName: "search", providerExecuted: true },
      { type: "tool-call", toolCallId: "s", toolName: "search", input: '{"q":1}', providerExecuted: true },
      { type: "tool-result", toolCallId: "s", toolName: "search", result: "soon", preliminary: true },
      {
        type: "tool-result",
        toolCallId: "s",
        toolName: "search",
        result: { found: 1 },
        isError: true,
        providerMetadata: about("found")
      },
      { type: "source", sourceType: "url", id: "u", url: "https://example.org", title: "Example" },
      { type: "source", sourceType: "document", id: "d", mediaType: "a/pdf", title: "A", filename: "a.pdf" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: Uint8Array.of(0, 255) } },
      { type: "file", mediaType: "image/png", data: { type: "url", url: new URL("https://example.org/a") } },
      { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AA==" } },
      { type: "custom", kind: "scripted.compaction", providerMetadata: about("custom") },
      { type: "tool-approval-request", approvalId: "a", toolCallId: "s" },
      { type: "hologram", rays: new URL("https://example.org/") } as never
    )
    expect(parts).toEqual([
      { type: "provider_tool_call", id: "s", name: "search", arguments: { q: 1 }, provider: "scripted" },
      {
        type: "provider_tool_result",
        toolCallId: "s",
        name: "search",
        result: { found: 1 },
        isError: true,
        provider: "scripted",
        ...kept("found")
      },
      { type: "source", id: "u", source: { url: "https://example.org" }, title: "Example" },
      { type: "source", id: "d", source: { mediaType: "a/pdf", filename: "a.pdf" }, title: "A" },
      { type: "file", mediaType: "image/png", file: { base64: "AP8=" } },
      { type: "file", mediaType: "image/png", file: { url: "https://example.org/a" } },
      {
        type: "custom",
        kind: "reasoning-file",
        data: { mediaType: "image/png", base64: "AA==" },
        provider: "scripted"
      },
      { type: "custom", kind: "scripted.compaction", provider: "scripted", ...kept("custom") },
      {
        type: "custom",
        kind: "tool-approval-request",
        data: { type: "tool-approval-request", approvalId: "a", toolCallId: "s" },
        provider: "scripted"
      },
      {
        type: "custom",
        kind: "hologram",
        data: { type: "hologram", rays: "https://example.org/" },
        provider: "scripted"
      }
    ])
  })

  test("are absent when a text and its calls are all of it, and after an error", async () => {
    const call = (id: string): LanguageModelV4StreamPart => ({
      type: "tool-call",
      toolCallId: id,
      toolName: "add",
      input: "{}"
    })
    expect(await partsOf(...word("t", "hi"), call("1"), call("2"))).toBeUndefined()
    expect(await partsOf(call("1"))).toBeUndefined()
    expect(await partsOf()).toBeUndefined()
    const begun: ReadonlyArray<LanguageModelV4StreamPart> = ["2", "1"].map((id) => ({
      type: "tool-input-start",
      id,
      toolName: "add"
    }))
    expect(await partsOf(...begun, call("1"), call("2"))).toHaveLength(2)
    const thought: LanguageModelV4StreamPart = { type: "reasoning-delta", id: "r", delta: "so" }
    expect(await partsOf(thought, { type: "error", error: new Error("down") })).toBeUndefined()
  })
})

describe("PART3. a tool call", () => {
  const twice = (first: string, second: string, input = '{"city":"Oslo"}') =>
    say(
      { type: "tool-input-start", id: first, toolName: "get" },
      { type: "tool-input-delta", id: first, delta: '{"city":"Oslo"}' },
      { type: "tool-input-start", id: second, toolName: "get" },
      { type: "tool-input-delta", id: second, delta: input },
      { type: "tool-call", toolCallId: first, toolName: "get", input: '{"city":"Oslo"}' },
      { type: "tool-call", toolCallId: second, toolName: "get", input },
      finish("tool-calls", "tool_calls")
    )

  test.each([
    ["that its package renamed is a repetition", "c1", "8klBO2EB9qPZGSzb", undefined, ["c1"]],
    [
      "with other arguments runs, although its package renamed it",
      "c1",
      "8klBO2EB9qPZGSzb",
      "{}",
      ["c1", "8klBO2EB9qPZGSzb"]
    ],
    ["with an id of its own runs", "c1", "c2", undefined, ["c1", "c2"]],
    [
      "of a provider without ids runs",
      "FQPJOi2k9uXLVp42",
      "8klBO2EB9qPZGSzb",
      undefined,
      ["FQPJOi2k9uXLVp42", "8klBO2EB9qPZGSzb"]
    ]
  ])("the same once more %s", async (_, first, second, input, ids) => {
    const events = await twice(first, second, input)
    expect(events.flatMap((event) => (event.type === "tool_call_completed" ? [event.id] : []))).toEqual(ids)
    expect(events.flatMap((event) => (event.type === "tool_call_started" ? [event.id] : []))).toEqual(ids)
    const collector = new StreamCollector()
    for (const event of events) collector.apply(event)
    expect(collector.toResponse().toolCalls.map(({ id }) => id)).toEqual(ids)
  })

  test("is started, grows and completes, with its provider data", async () => {
    const data = { scripted: { thoughtSignature: "sig" } }
    const events = await say(
      { type: "tool-input-start", id: "c", toolName: "add" },
      { type: "tool-input-delta", id: "c", delta: '{"a":' },
      { type: "tool-input-delta", id: "c", delta: "1}" },
      { type: "tool-input-end", id: "c" },
      { type: "tool-call", toolCallId: "c", toolName: "add", input: '{"a":1}', providerMetadata: data },
      finish("tool-calls", "tool_use")
    )
    expect(events.slice(1, -1)).toEqual([
      { type: "tool_call_started", id: "c", name: "add" },
      { type: "tool_call_delta", id: "c", argumentsDelta: '{"a":' },
      { type: "tool_call_delta", id: "c", argumentsDelta: "1}" },
      {
        type: "tool_call_completed",
        id: "c",
        name: "add",
        arguments: { a: 1 },
        rawArguments: '{"a":1}',
        metadata: { providerMetadata: data }
      }
    ])
    expect(only(events, "message_completed").finishReason).toBe("tool_calls")
  })

  test("that comes whole is started too", async () => {
    const call = { type: "tool-call" as const, toolCallId: "c", toolName: "add", input: "" }
    const events = await say(call, finish("tool-calls"))
    expect(tagsOf(events)).toEqual(["message_started", "tool_call_started", "tool_call_completed", "message_completed"])
    expect(only(events, "tool_call_completed").arguments).toEqual({})
  })

  test("with cut off arguments has none", async () => {
    const call = { type: "tool-call" as const, toolCallId: "c", toolName: "add", input: '{"a":' }
    expect(only(await say(call, finish("length")), "tool_call_completed")).toMatchObject({
      arguments: null,
      rawArguments: '{"a":'
    })
  })

  test("under the id of another call gets an id of its own; the same call once more does not", async () => {
    const call = (input: string) => ({ type: "tool-call" as const, toolCallId: "c", toolName: "add", input })
    const events = await say(
      call('{"a":1}'),
      { type: "tool-input-start", id: "c", toolName: "add" },
      { type: "tool-input-delta", id: "c", delta: '{"a":2}' },
      { type: "tool-input-end", id: "c" },
      call('{"a":2}'),
      call('{"a":3}'),
      call('{"a":3}'),
      finish("tool-calls")
    )
    const completed = events.flatMap((event) =>
      event.type === "tool_call_completed" ? [[event.id, event.rawArguments]] : []
    )
    expect(completed).toEqual([
      ["c", '{"a":1}'],
      ["c-2", '{"a":2}'],
      ["c-3", '{"a":3}'],
      ["c-3", '{"a":3}']
    ])
    expect(only(events, "tool_call_delta").id).toBe("c-2")
  })

  test("that the provider did not complete is not completed", async () => {
    const events = await say({ type: "tool-input-start", id: "c", toolName: "add" }, finish("length"))
    expect(tagsOf(events)).toEqual(["message_started", "tool_call_started", "message_completed"])
  })

  test("that the provider runs itself is a raw chunk, with its result", async () => {
    const events = await say(
      { type: "tool-input-start", id: "w", toolName: "web", providerExecuted: true },
      { type: "tool-input-delta", id: "w", delta: "{}" },
      { type: "tool-call", toolCallId: "w", toolName: "web", input: "{}", providerExecuted: true },
      { type: "tool-result", toolCallId: "w", toolName: "web", result: { found: 1 } },
      finish()
    )
    expect(tagsOf(events)).toEqual(["message_started", "raw_chunk", "raw_chunk", "message_completed"])
  })
})

describe("PART3. a call that its package marks only at its end", () => {
  const start = { type: "tool-input-start" as const, id: "w", toolName: "web" }
  const fragment = { type: "tool-input-delta" as const, id: "w", delta: '{"q":1}' }
  const end = { type: "tool-call" as const, toolCallId: "w", toolName: "web", input: '{"q":1}' }
  const providerTools = [{ type: "provider" as const, id: "x.web", name: "web", args: {} }]
  const tools = [{ name: "add", description: "", schema: {} }]
  const asked = (...parts: ReadonlyArray<LanguageModelV4StreamPart>) =>
    pull(aiSdk(modelV4(() => streamOf(parts))), asking({ providerTools, tools }))

  test("as one of the provider is never one of the program", async () => {
    const result = { type: "tool-result" as const, toolCallId: "w", toolName: "web", result: { found: 1 } }
    const events = await asked(
      start,
      fragment,
      { ...end, providerExecuted: true },
      result,
      ...word("t", "hi"),
      finish()
    )
    expect(tagsOf(events).slice(0, 4)).toEqual(["message_started", "raw_chunk", "raw_chunk", "text_delta"])
    expect(only(events, "message_completed").message.parts?.map(({ type }) => type)).toEqual([
      "provider_tool_call",
      "provider_tool_result",
      "text"
    ])
  })

  test("and that never ends is none at all", async () => {
    expect(tagsOf(await asked(start, fragment, finish("length")))).toEqual(["message_started", "message_completed"])
  })

  test("but not as one of the provider is started and completed there", async () => {
    const events = await asked(start, fragment, end, finish("tool-calls"))
    expect(tagsOf(events)).toEqual(["message_started", "tool_call_started", "tool_call_completed", "message_completed"])
    expect(only(events, "tool_call_completed").arguments).toEqual({ q: 1 })
  })

  test("of a tool of the program streams as it comes", async () => {
    const events = await asked({ ...start, toolName: "add" }, fragment, { ...end, toolName: "add" }, finish())
    expect(tagsOf(events).slice(1, 4)).toEqual(["tool_call_started", "tool_call_delta", "tool_call_completed"])
  })
})

describe("PART4. the finish reason", () => {
  const call = { type: "tool-call" as const, toolCallId: "c", toolName: "add", input: "{}" }
  const cut = { ...call, toolCallId: "d", input: '{"a":' }
  const endOf = async (...parts: ReadonlyArray<LanguageModelV4StreamPart>) => {
    const { finishReason, rawFinishReason } = only(await sayMessages(...parts), "message_completed")
    return [finishReason, rawFinishReason]
  }
  const wordless = (unified: "stop" | "other" | "interrupted" | "error") => ({
    ...finish(),
    finishReason: { unified, raw: undefined }
  })

  test.each([
    ["stop", "end", finish("stop", "end")],
    ["stop without a word of the provider's", "stop", wordless("stop")],
    ["other", "eos", finish("other", "eos")]
  ] as const)("is tool_calls where a call is complete and the provider says %s", async (_, raw, said) => {
    expect(await endOf(call, said)).toEqual(["tool_calls", raw])
    expect(await endOf(cut, said)).toEqual(["tool_calls", raw])
    expect(await endOf(call, cut, said)).toEqual(["tool_calls", raw])
  })

  const missing = [
    { type: "error", error: new InvalidResponseDataError({ data: undefined, message: "no finish reason" }) },
    wordless("error")
  ] as const
  test.each([
    ["without a finish", []],
    ["that its package calls interrupted", [wordless("interrupted")]],
    ["whose reason nobody said", [wordless("other")]],
    ["whose package reports the missing reason as an error", missing]
  ] as const)("of a reply %s is tool_calls where a call has all of its arguments", async (_, ending) => {
    expect(await endOf(call, ...ending)).toEqual(["tool_calls", undefined])
    expect(await endOf(call, cut, ...ending)).toEqual(["tool_calls", undefined])
    expect(await endOf(cut, ...ending)).toEqual(["error", undefined])
    expect(await endOf(...word("t", "hal"), ...ending)).toEqual(["error", undefined])
  })

  test.each([
    ["length", "length"],
    ["content-filter", "content_filter"],
    ["error", "error"]
  ] as const)("%s stays, whatever calls the reply has", async (unified, expected) => {
    expect(await endOf(call, finish(unified, "word"))).toEqual([expected, "word"])
  })

  test("stop stays where no call for us is complete", async () => {
    expect(await endOf({ type: "tool-input-start", id: "c", toolName: "add" }, finish())).toEqual(["stop", "end"])
    expect(await endOf({ ...call, providerExecuted: true }, finish())).toEqual(["stop", "end"])
  })

  test("is error after an error part, whatever calls the reply has", async () => {
    expect(await endOf(call, { type: "error", error: "overloaded" }, finish())).toEqual(["error", "end"])
  })

  test.each([
    ["stop", "stop"],
    ["length", "length"],
    ["content-filter", "content_filter"],
    ["tool-calls", "tool_calls"],
    ["error", "error"],
    ["other", "other"]
  ] as const)("%s is %s", async (unified, expected) => {
    expect(only(await say(finish(unified, "word")), "message_completed").finishReason).toBe(expected)
  })

  test.each([
    ["without a finish", []],
    ["that its package calls interrupted", [finish("interrupted", undefined)]],
    ["whose reason nobody said", [{ ...finish("other"), finishReason: { unified: "other", raw: undefined } }]]
  ] as const)("of a reply %s is error, after one malformed_response", async (_, ending) => {
    const events = await sayMessages(...word("t", "hal"), ...ending)
    expect(tagsOf(events)).toEqual(["message_started", "text_delta", "error", "text_completed", "message_completed"])
    expect(only(events, "error").error).toMatchObject({ _tag: "AdapterError", reason: "malformed_response" })
    expect(only(events, "message_completed").finishReason).toBe("error")
  })

  test("is error after an error part, and what follows is still read", async () => {
    const [first = hi, ...rest] = word("t", "hi")
    const events = await say(hi, { type: "error", error: "overloaded" }, first, ...rest, finish())
    expect(tagsOf(events).slice(0, 4)).toEqual(["message_started", "text_delta", "error", "text_delta"])
    expect(only(events, "message_completed").finishReason).toBe("error")
  })
})

const hi = { type: "text-delta" as const, id: "a", delta: "hi" }

describe("PART1, SEQ5. a failure before the first content", () => {
  const busy = { type: "error" as const, error: { type: "overloaded_error", message: "busy" } }
  const noFinish = { type: "error" as const, error: new InvalidResponseDataError({ data: undefined, message: "none" }) }
  const interrupted = { ...finish(), finishReason: { unified: "interrupted" as const, raw: undefined } }

  const forms: ReadonlyArray<readonly [form: string, parts: ReadonlyArray<LanguageModelV4StreamPart>]> = [
    ["an error first", [busy]],
    ["an error after the facts of the response", [{ type: "response-metadata", id: "r1" }, busy]],
    ["an error after an empty fragment", [{ type: "text-delta", id: "t", delta: "" }, busy]],
    ["an error after the start of a text", [{ type: "text-start", id: "t" }, busy]],
    ["an error after the start of reasoning", [{ type: "reasoning-start", id: "r" }, busy]],
    ["an error after a part of the provider's own kind", [{ type: "custom", kind: "x.message_start" }, busy]],
    ["an error after a ping and a raw chunk", [{ type: "ping" }, { type: "raw", rawValue: 1 }, busy]],
    ["an error and then content", [busy, hi]],
    ["no part", []],
    ["an empty fragment alone", [{ type: "text-delta", id: "t", delta: "" }]],
    ["the start of reasoning alone", [{ type: "reasoning-start", id: "r" }]],
    ["an end without a reason", [interrupted]],
    ["a missing reason that is an error", [noFinish, interrupted]]
  ]

  test.each(forms)("(%s) is retried, then goes to the fallback, and leaves no event", async (_, parts) => {
    let requests = 0
    const failing = aiSdk(
      modelV4(() => {
        requests++
        return streamOf(parts)
      })
    )
    const fallback = aiSdk(modelV4(() => streamOf([...word("t", "fine"), finish()])))
    const engine = Engine.make({ adapter: failing, fallbacks: [fallback] })
    const retry = {
      maxAttempts: 2,
      baseDelayMs: 1,
      jitterMs: 0,
      retryOn: ["provider_unavailable"] as const
    }
    const { outputText, metadata, finishReason } = await Chat.generate(engine, [user("Hi")], { retry })
    expect([requests, outputText, finishReason]).toEqual([2, "fine", "stop"])
    expect(metadata["fallback"]).toMatchObject({ index: 0 })
    await expect(pull(failing, asking(), adapterOptions({ includeRawChunks: true }))).rejects.toMatchObject({
      _tag: "AdapterError"
    })
  })

  test("is provider_unavailable when the stream ends without any content", async () => {
    await expect(say()).rejects.toMatchObject({ reason: "provider_unavailable" })
  })

  test("holds a chunk that is no content until the first content, or the end of an empty reply", async () => {
    const custom = { type: "custom" as const, kind: "x.message_start" as const }
    expect(tagsOf(await say(custom, ...word("t", "hi"), finish())).slice(0, 3)).toEqual([
      "message_started",
      "raw_chunk",
      "text_delta"
    ])
    expect(tagsOf(await say(custom, finish()))).toEqual(["message_started", "raw_chunk", "message_completed"])
  })
})

describe("older models", () => {
  test("V3 says the same parts", async () => {
    const events = await pull(
      aiSdk(
        modelV3([
          { type: "text-delta", id: "t", delta: "hi" },
          { ...finish(), usage: someUsage, finishReason: { unified: "stop", raw: "s" } }
        ])
      )
    )
    expect(only(events, "message_completed")).toMatchObject({ finishReason: "stop", usage: { inputTokens: 20 } })
  })

  test.each([
    ["tool-calls", "tool_calls"],
    ["unknown", "other"]
  ] as const)("V2 says its reason in one word: %s is %s", async (said, expected) => {
    const usage = { inputTokens: 3, outputTokens: 4, totalTokens: 7, cachedInputTokens: 1, reasoningTokens: undefined }
    const events = await pull(aiSdk(modelV2([{ type: "finish", finishReason: said, usage }])))
    expect(only(events, "message_completed")).toMatchObject({
      finishReason: expected,
      rawFinishReason: said,
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7, cachedInputTokens: 1 }
    })
  })
})

test("UNREAD1 options under the name of another provider are a warning before those of the package", async () => {
  const said = { type: "other" as const, message: "careful" }
  const parts = (): ReadonlyArray<LanguageModelV4StreamPart> => [
    { type: "stream-start", warnings: [said] },
    ...word("t", "hi"),
    finish()
  ]
  const options = { anthropic: { effort: "low" }, scripted: { a: 1 }, acme: { b: 2 }, openrouter: "flat", seed: 1 }
  const warningsOf = async (more?: Parameters<typeof aiSdk>[1]) => {
    const events = await pull(
      aiSdk(
        modelV4(() => streamOf(parts())),
        more
      ),
      asking({ options })
    )
    return only(events, "message_completed").metadata?.["warnings"]
  }
  const message =
    "The options under `anthropic` are not sent: the package of scripted.chat reads those under `scripted`"
  expect(await warningsOf()).toEqual([{ type: "other", message }, said])
  expect(await warningsOf({ providerNames: ["anthropic"] })).toEqual([said])
})
