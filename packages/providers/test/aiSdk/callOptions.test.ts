import type {
  LanguageModelV2CallOptions,
  LanguageModelV3CallOptions,
  LanguageModelV4CallOptions,
  LanguageModelV4Prompt
} from "@ai-sdk/provider"
import type { Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import { Outcome } from "@troupe/chat/results"
import { describe, expect, test } from "vitest"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { adapterOptions, asking, pull } from "../loopback/pulling.ts"
import { finish, modelV2, modelV3, modelV4, streamOf } from "../loopback/scriptedModel.ts"

const asked = async (
  request: Partial<Request>,
  headers?: Record<string, string>
): Promise<LanguageModelV4CallOptions> => {
  const seen: Array<LanguageModelV4CallOptions> = []
  const adapter = aiSdk(
    modelV4(() => streamOf([finish()]), seen),
    { toolFiles: ["*/*"] }
  )
  await pull(adapter, asking(request), adapterOptions({ adapterOptions: headers === undefined ? {} : { headers } }))
  const [options] = seen
  if (options === undefined) throw new Error("the model was not asked")
  return options
}

const prompted = async (messages: ReadonlyArray<Message.Message>): Promise<unknown> =>
  (await asked({ messages })).prompt

/** A reply with content, whose missing end these tests do not look at. */
const hello = { type: "text-delta" as const, id: "t", delta: "hi" }

describe("the prompt", () => {
  test("gives a result the provider's data of its call", async () => {
    const data = { scripted: { caller: { type: "program", callerId: "c0" } } }
    const call = { id: "c1", name: "add", arguments: {}, metadata: { providerMetadata: data } }
    const prompt = await prompted([
      { role: "user", content: "x" },
      { role: "assistant", content: "", toolCalls: [call] },
      { role: "tool", toolCallId: "c1", content: "1" }
    ])
    expect(prompt).toMatchObject([{}, {}, { content: [{ type: "tool-result", providerOptions: data }] }])
  })

  test("has every kind of content a user can send", async () => {
    const prompt = await prompted([
      { role: "system", content: "be brief" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image", image: { url: "https://example.org/a.png" }, detail: "low" },
          { type: "image", image: { url: "data:image/gif;base64,R0lG" } },
          { type: "image", image: { base64: "AA==", mediaType: "image/png" } },
          { type: "file", file: { base64: "JVBE" }, mediaType: "application/pdf", filename: "a.pdf" },
          { type: "file", file: { url: "https://example.org/b.txt" }, mediaType: "text/plain" }
        ]
      }
    ])
    expect(prompt).toEqual([
      { role: "system", content: "be brief" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          {
            type: "file",
            mediaType: "image/*",
            data: { type: "url", url: new URL("https://example.org/a.png") },
            providerOptions: { scripted: { imageDetail: "low" } }
          },
          { type: "file", mediaType: "image/gif", data: { type: "data", data: "R0lG" } },
          { type: "file", mediaType: "image/png", data: { type: "data", data: "AA==" } },
          { type: "file", mediaType: "application/pdf", data: { type: "data", data: "JVBE" }, filename: "a.pdf" },
          { type: "file", mediaType: "text/plain", data: { type: "url", url: new URL("https://example.org/b.txt") } }
        ]
      }
    ])
  })

  test("hands back reasoning, text and calls with what the provider said about them", async () => {
    const said = (x: string) => ({ providerMetadata: { scripted: { x } } })
    const back = (x: string) => ({ providerOptions: { scripted: { x } } })
    const prompt = await prompted([
      { role: "user", content: "hello" },
      {
        role: "assistant",
        content: "I will add.",
        metadata: {
          finish_reason: "tool_calls",
          ...said("text"),
          reasoning: [{ type: "reasoning", text: "hm", metadata: said("thought") }]
        },
        toolCalls: [{ id: "c", name: "add", arguments: { a: 1 }, rawArguments: '{"a":1}', metadata: said("call") }]
      },
      { role: "tool", toolCallId: "c", content: "2" }
    ])
    expect(prompt).toMatchObject([
      {},
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", ...back("thought") },
          { type: "text", text: "I will add.", ...back("text") },
          { type: "tool-call", toolCallId: "c", toolName: "add", input: { a: 1 }, ...back("call") }
        ]
      },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "c", toolName: "add", output: { value: "2" } }] }
    ])
  })

  test("hands back all parts of a reply in their order, each with its metadata", async () => {
    const said = (x: string) => ({ metadata: { providerMetadata: { scripted: { x } } } })
    const back = (x: string) => ({ providerOptions: { scripted: { x } } })
    const messages: ReadonlyArray<Message.Message> = [
      {
        role: "assistant",
        content: "onetwo",
        toolCalls: [{ id: "c", name: "add", arguments: { a: 1 }, ...said("call") }],
        parts: [
          { type: "reasoning", text: "", ...said("thought") },
          { type: "text", text: "one", ...said("one") },
          { type: "text", text: "", ...said("empty") },
          { type: "text", text: "" },
          { type: "provider_tool_call", id: "s", name: "search", arguments: { q: 1 }, ...said("search") },
          { type: "provider_tool_result", toolCallId: "s", name: "search", result: [1], ...said("found") },
          { type: "provider_tool_call", id: "s", name: "search", arguments: {} },
          { type: "provider_tool_result", toolCallId: "s", name: "search", result: "no", isError: true },
          { type: "tool_call", toolCallId: "c" },
          { type: "source", id: "u", source: { url: "https://example.org" } },
          { type: "file", mediaType: "image/png", file: { base64: "AA==" }, ...said("file") },
          { type: "custom", kind: "scripted.compaction", ...said("custom") },
          { type: "custom", kind: "reasoning-file", data: { mediaType: "image/png", base64: "AB==" } },
          { type: "custom", kind: "hologram", data: {} },
          { type: "text", text: "two" }
        ]
      },
      { role: "tool", toolCallId: "c", content: "2" }
    ]
    const content = [
      { type: "reasoning", text: "", ...back("thought") },
      { type: "text", text: "one", ...back("one") },
      { type: "text", text: "", ...back("empty") },
      {
        type: "tool-call",
        toolCallId: "s",
        toolName: "search",
        input: { q: 1 },
        providerExecuted: true,
        ...back("search")
      },
      {
        type: "tool-result",
        toolCallId: "s",
        toolName: "search",
        output: { type: "json", value: [1] },
        ...back("found")
      },
      { type: "tool-call", toolCallId: "s", toolName: "search", input: {}, providerExecuted: true },
      { type: "tool-result", toolCallId: "s", toolName: "search", output: { type: "error-json", value: "no" } },
      { type: "tool-call", toolCallId: "c", toolName: "add", input: { a: 1 }, ...back("call") },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AA==" }, ...back("file") },
      { type: "custom", kind: "scripted.compaction", ...back("custom") },
      { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AB==" } },
      { type: "text", text: "two" }
    ]
    expect(await prompted(messages)).toMatchObject([{ role: "assistant", content }, { role: "tool" }])
    const older = content.filter(({ type }) => type !== "custom" && type !== "reasoning-file")
    for (const [model, seen] of [
      [modelV3, new Array<LanguageModelV3CallOptions>()],
      [modelV2, new Array<LanguageModelV2CallOptions>()]
    ] as const) {
      await pull(aiSdk(model([hello], seen as never)), asking({ messages }))
      const bare = older.map((part) => (part.type === "file" ? { ...part, data: "AA==" } : part))
      expect(seen[0]?.prompt).toMatchObject([{ role: "assistant", content: bare }, { role: "tool" }])
    }
  })

  test("puts results next to each other into one message, each with the name of its tool", async () => {
    const prompt = await prompted([
      {
        role: "assistant",
        content: "",
        toolCalls: [
          { id: "1", name: "one", arguments: {} },
          { id: "2", name: "two", arguments: null }
        ]
      },
      { role: "tool", toolCallId: "1", content: "a" },
      { role: "tool", toolCallId: "2", content: [{ type: "image", image: { base64: "AA==", mediaType: "image/png" } }] }
    ])
    expect(prompt).toMatchObject([
      { role: "assistant", content: [{ toolName: "one" }, { toolName: "two", input: {} }] },
      {
        role: "tool",
        content: [
          { toolName: "one", output: { type: "text", value: "a" } },
          { toolName: "two", output: { type: "content", value: [{ type: "file", mediaType: "image/png" }] } }
        ]
      }
    ])
  })

  const ended = (
    id: string,
    outcome: Extract<Message.Message, { role: "tool" }>["outcome"],
    content: Extract<Message.Message, { role: "tool" }>["content"] = outcome ?? ""
  ) => ({
    role: "tool" as const,
    toolCallId: id,
    content,
    ...(outcome === undefined ? {} : { outcome })
  })

  const outputs = (prompt: unknown): ReadonlyArray<unknown> =>
    (prompt as LanguageModelV4Prompt).flatMap((message) =>
      message.role === "tool"
        ? message.content.map((part) => (part.type === "tool-result" ? part.output : undefined))
        : []
    )

  test("says of a call that did not complete that it is an error, and of one that was refused that it was", async () => {
    const others = Outcome.options.filter((outcome) => outcome !== "completed" && outcome !== "denied")
    const prompt = await prompted([
      ended("1", undefined, "as ever"),
      ended("2", "completed"),
      ended("3", "denied", "not on Sundays"),
      ...others.map((outcome) => ended(outcome, outcome, [{ type: "text", text: outcome }]))
    ])
    expect(outputs(prompt)).toEqual([
      { type: "text", value: "as ever" },
      { type: "text", value: "completed" },
      { type: "execution-denied", reason: "not on Sundays" },
      ...others.map((outcome) => ({ type: "error-text", value: outcome }))
    ])
  })

  test("keeps the files of a call that did not complete", async () => {
    const picture = { type: "image", image: { base64: "AA==", mediaType: "image/png" } } as const
    expect(outputs(await prompted([ended("1", "failed", [picture])]))).toMatchObject([
      { type: "content", value: [{ type: "file", mediaType: "image/png" }] }
    ])
  })

  test("sends a V2 model a refusal as an error", async () => {
    const messages = [ended("1", "denied", "not on Sundays")]
    const second: Array<LanguageModelV2CallOptions> = []
    await pull(aiSdk(modelV2([hello], second)), asking({ messages }))
    expect(outputs(second[0]?.prompt)).toEqual([{ type: "error-text", value: "not on Sundays" }])
    const third: Array<LanguageModelV3CallOptions> = []
    await pull(aiSdk(modelV3([hello], third)), asking({ messages }))
    expect(outputs(third[0]?.prompt)).toEqual([{ type: "execution-denied", reason: "not on Sundays" }])
  })

  test("leaves out what no provider accepts: empty texts and empty assistant messages", async () => {
    const prompt = await prompted([
      {
        role: "user",
        content: [
          { type: "text", text: "" },
          { type: "text", text: "hi" }
        ]
      },
      { role: "assistant", content: "" },
      { role: "user", content: "again" }
    ])
    expect(prompt).toEqual([
      { role: "user", content: [{ type: "text", text: "hi" }] },
      { role: "user", content: [{ type: "text", text: "again" }] }
    ])
  })

  test("carries the user's own provider options", async () => {
    const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } }
    expect(await prompted([{ role: "system", content: "long", metadata: { providerOptions } }])).toEqual([
      { role: "system", content: "long", providerOptions }
    ])
  })

  const withFiles: ReadonlyArray<Message.Message> = [
    { role: "user", content: [{ type: "image", image: { url: "https://example.org/a.png" } }] },
    { role: "assistant", content: "", toolCalls: [{ id: "1", name: "one", arguments: {} }] },
    {
      role: "tool",
      toolCallId: "1",
      content: [
        { type: "image", image: { base64: "AA==", mediaType: "image/png" }, detail: "high" },
        { type: "file", file: { base64: "JVBE" }, mediaType: "application/pdf", filename: "a.pdf" }
      ]
    }
  ]

  test("writes files as V3 and V2 models read them", async () => {
    const third: Array<LanguageModelV3CallOptions> = []
    await pull(aiSdk(modelV3([hello], third), { toolFiles: ["*/*"] }), asking({ messages: withFiles }))
    expect(third[0]?.prompt).toMatchObject([
      { content: [{ type: "file", data: new URL("https://example.org/a.png") }] },
      {},
      {
        content: [
          {
            output: {
              type: "content",
              value: [
                { type: "image-data", data: "AA==", providerOptions: { scripted: { imageDetail: "high" } } },
                { type: "file-data", data: "JVBE", mediaType: "application/pdf", filename: "a.pdf" }
              ]
            }
          }
        ]
      }
    ])
    const second: Array<LanguageModelV2CallOptions> = []
    await pull(aiSdk(modelV2([hello], second), { toolFiles: ["image/png"] }), asking({ messages: withFiles }))
    expect(second[0]?.prompt).toMatchObject([
      { content: [{ type: "file", data: new URL("https://example.org/a.png") }] },
      {},
      {
        content: [
          {
            output: {
              type: "content",
              value: [
                { type: "media", data: "AA==" },
                { type: "text", text: "[file application/pdf, a.pdf, 3 B: this model cannot read it]" }
              ]
            }
          }
        ]
      }
    ])
  })
})

describe("the call options", () => {
  const schema = { type: "object", properties: { a: { type: "number" } } }

  test("have tools, choice, format, limits and the provider's own parameters", async () => {
    const options = await asked(
      {
        tools: [{ name: "add", description: "Adds", schema, metadata: { strict: true } }],
        toolChoice: { name: "add" },
        temperature: 0.5,
        maxTokens: 99,
        responseFormat: { type: "json_schema", name: "sum", schema, strict: false },
        options: { topP: 0.1, effort: "low", scripted: { store: false }, headers: { "x-own": "1" } }
      },
      { "x-engine": "1" }
    )
    expect(options).toMatchObject({
      tools: [{ type: "function", name: "add", description: "Adds", inputSchema: schema, strict: true }],
      toolChoice: { type: "tool", toolName: "add" },
      temperature: 0.5,
      maxOutputTokens: 99,
      topP: 0.1,
      headers: { "x-own": "1" },
      responseFormat: { type: "json", name: "sum", schema },
      providerOptions: { scripted: { effort: "low", store: false, strictJsonSchema: false } }
    })
  })

  test("say nothing about what the request does not say", async () => {
    expect(Object.keys(await asked({ toolChoice: "auto" }))).toEqual(["prompt", "abortSignal"])
  })

  test("ask for any JSON when no schema is given", async () => {
    expect(await asked({ responseFormat: { type: "json_object" } })).toMatchObject({ responseFormat: { type: "json" } })
  })

  const search = { name: "web_search", id: "scripted.web_search", args: { maxUses: 2 } }

  test("have tools of the provider, also for a V2 model, which has another word for them", async () => {
    const sent = { type: "provider", ...search }
    expect((await asked({ providerTools: [search], toolChoice: { name: "web_search" } })).tools).toEqual([sent])
    const third: Array<LanguageModelV3CallOptions> = []
    await pull(aiSdk(modelV3([hello], third)), asking({ providerTools: [search] }))
    expect(third[0]?.tools).toEqual([sent])
    const second: Array<LanguageModelV2CallOptions> = []
    await pull(aiSdk(modelV2([hello], second)), asking({ providerTools: [search] }))
    expect(second[0]?.tools).toEqual([{ ...sent, type: "provider-defined" }])
  })

  test("refuse what a model cannot be sent, by name", async () => {
    const tools = [{ name: "add", description: "Adds", schema, metadata: { strict: true } }]
    const refused = { _tag: "AdapterError", reason: "unsupported_feature" }
    const reasoning = asking({ options: { reasoning: "high" } })
    await expect(pull(aiSdk(modelV3([])), reasoning)).rejects.toMatchObject(refused)
    await expect(pull(aiSdk(modelV2([])), reasoning)).rejects.toThrow("reasoning cannot be sent")
    await expect(pull(aiSdk(modelV2([])), asking({ tools }))).rejects.toThrow("strict of add cannot be sent")
    const metadata = { providerOptions: { scripted: { x: 1 } } }
    await expect(asked({ providerTools: [{ ...search, metadata }] })).rejects.toMatchObject(refused)
    const responses = { ...modelV4(() => streamOf([finish()])), provider: "openai.responses" }
    await expect(pull(aiSdk(responses), asking({ providerTools: [search] }))).rejects.toThrow("scripted.web_search")
  })

  test("carry the user's provider options of a reply, whatever parts it has", async () => {
    const providerOptions = { anthropic: { cacheControl: { type: "ephemeral" } } }
    const toolCalls = [{ id: "c", name: "add", arguments: {} }]
    const prompt = await prompted([
      { role: "assistant", content: "", toolCalls, metadata: { providerOptions } },
      { role: "tool", toolCallId: "c", content: "2", metadata: { providerOptions } }
    ])
    expect(prompt).toMatchObject([{ role: "assistant", providerOptions }, { content: [{ providerOptions }] }])
  })
})

describe("provider options", () => {
  const optionsOf = async (
    provider: string,
    options: Record<string, unknown>,
    providerNames?: ReadonlyArray<string>
  ) => {
    const seen: Array<LanguageModelV4CallOptions> = []
    const model = { ...modelV4(() => streamOf([finish()]), seen), provider }
    await pull(aiSdk(model, { providerNames }), asking({ options }))
    return seen[0]?.providerOptions
  }

  test.each([
    ["openai.responses", ["openai"]],
    ["azure.chat", ["azure", "openai"]],
    ["azure-openai.responses", ["azure", "openai"]],
    ["amazon-bedrock", ["bedrock", "amazonBedrock"]],
    ["bedrock.anthropic.messages", ["anthropic"]],
    ["googleVertex.anthropic.messages", ["anthropic"]],
    ["google.vertex.chat", ["vertex", "googleVertex"]],
    ["google.generative-ai", ["google"]],
    ["gateway", ["gateway"]],
    ["my-local.chat", ["my-local", "myLocal"]]
  ])("of a model of %s are under %j: the flat ones, and those under any of these names", async (provider, names) => {
    const own = Object.fromEntries(names.map((name) => [name, { flat: 1, named: 2 }]))
    for (const name of names) expect(await optionsOf(provider, { flat: 1, [name]: { named: 2 } })).toEqual(own)
  })

  test("under the names of other providers are passed on as they are", async () => {
    const options = { gateway: { order: ["azure"] }, azure: { x: 1 }, bedrock: { y: 1 }, vertex: { z: 1 } }
    expect(await optionsOf("openai.chat", { ...options, user: "u" })).toEqual({ ...options, openai: { user: "u" } })
  })

  test("are flat when the name is no provider's, or the value no object", async () => {
    const options = { thinking: { type: "enabled" }, gateway: "fast", acme: { x: 1 } }
    expect(await optionsOf("openai.chat", options)).toEqual({ openai: options })
    expect(await optionsOf("openai.chat", options, ["acme"])).toEqual({
      acme: { x: 1 },
      openai: { thinking: { type: "enabled" }, gateway: "fast" }
    })
  })

  test.each([
    ["openai.responses", { openai: { parallelToolCalls: false } }],
    ["mistral.chat", { mistral: { parallelToolCalls: false } }],
    ["anthropic.messages", { anthropic: { disableParallelToolUse: true } }],
    ["xai.chat", { xai: { parallel_function_calling: false } }],
    ["local.chat", { local: { parallel_tool_calls: false } }]
  ])("have parallelToolCalls as %s has it", async (provider, expected) => {
    expect(await optionsOf(provider, { parallelToolCalls: false })).toEqual(expected)
  })

  test("have no parallelToolCalls for a provider without it: the request is refused", async () => {
    await expect(optionsOf("google.generative-ai", { parallelToolCalls: true })).rejects.toThrow(
      "parallelToolCalls cannot be sent"
    )
  })
})
