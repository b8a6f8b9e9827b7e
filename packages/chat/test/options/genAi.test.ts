import { Clock, System } from "@troupe/otp"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import * as z from "zod"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import * as Chat from "../../src/loop/Chat.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import type { Usage } from "../../src/model/Usage.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { EngineOptions } from "../../src/options/engineOptions.ts"
import {
  agentDuration,
  providerName,
  requestDuration,
  timeToFirstChunk,
  tokenUsage,
  toolDuration
} from "../../src/options/genAi.ts"
import type { Tracing } from "../../src/options/traceOptions.ts"
import { user } from "../../src/model/Message.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { Spans } from "../double/spans.ts"

let spans = new Spans()
let clock = Clock.test()
let system = System.make({ clock })
let measured: Array<readonly [string, number, object]> = []

beforeEach(() => {
  spans = new Spans()
  clock = Clock.test()
  system = System.make({ clock })
  measured = []
})

afterEach(() => System.stop(system))

const tracing = (more: Partial<Tracing> = {}): Tracing => ({
  tracer: spans.tracer,
  record: (metric, value, attributes) => measured.push([metric.name, value, attributes]),
  ...more
})

test.each([
  ["openai.responses", "openai"],
  ["openai.chat", "openai"],
  ["openai", "openai"],
  ["azure.responses", "azure.ai.openai"],
  ["azure-openai.chat", "azure.ai.openai"],
  ["azure.ai.openai", "azure.ai.openai"],
  ["azure.ai.inference", "azure.ai.inference"],
  ["anthropic.messages", "anthropic"],
  ["google.generative-ai", "gcp.gemini"],
  ["google.vertex.chat", "gcp.vertex_ai"],
  ["vertex.anthropic.messages", "gcp.vertex_ai"],
  ["amazon-bedrock", "aws.bedrock"],
  ["bedrock.anthropic.messages", "aws.bedrock"],
  ["mistral.chat", "mistral_ai"],
  ["xai.chat", "x_ai"],
  ["moonshotai.chat", "moonshot_ai"],
  ["groq.chat", "groq"],
  ["deepseek.chat", "deepseek"],
  ["cohere.chat", "cohere"],
  ["perplexity", "perplexity"],
  ["gateway", "gateway"],
  ["local.chat", "local"],
  ["googly.chat", "googly"]
])("gen_ai.provider.name of %s is %s", (provider, name) => {
  expect(providerName({ name: provider })).toBe(name)
  expect(providerName({ name: "mine", provider })).toBe(name)
})

const toolCall = { id: "c0", name: "weather", arguments: { city: "Paris" }, rawArguments: '{"city":"Paris"}' }

const usage: Usage = {
  inputTokens: 20,
  cachedInputTokens: 5,
  cacheWriteInputTokens: 3,
  outputTokens: 9,
  reasoningTokens: 2
}

const metadata = { id: "resp_1", model: "gpt-5.5-2026-01-15" }

/** Waits on the test clock. */
const passing = (ms: number) => new Promise<void>((resolve) => clock.setTimeout(resolve, ms))

/** An adapter that calls a tool, then answers; each reply takes 250 ms until its first event, and 750 ms more. */
const adapter = (): Adapter => {
  let requests = 0
  return {
    name: "mine",
    provider: "openai.responses",
    model: "gpt-5.5",
    stream: async function* (): AsyncGenerator<AdapterEvent> {
      await passing(250)
      yield { type: "message_started", message: { role: "assistant", content: "" }, metadata }
      await passing(750)
      if (requests++ === 0) {
        yield { type: "tool_call_started", id: toolCall.id, name: toolCall.name }
        yield { type: "tool_call_completed", ...toolCall }
        const reasoning = { reasoning: [{ type: "reasoning", text: "Look it up" }] }
        const message = { role: "assistant", content: "", metadata: reasoning } as const
        yield { type: "message_completed", message, finishReason: "tool_calls", usage }
      } else {
        yield { type: "text_delta", id: null, delta: "Rainy." }
        yield { type: "text_completed", id: null, text: "Rainy." }
        const message = { role: "assistant", content: "Rainy." } as const
        yield { type: "message_completed", message, finishReason: "stop", usage }
      }
    }
  }
}

const weather = tool({
  name: "weather",
  description: "The weather of a city",
  parameters: z.object({ city: z.string() }),
  execute: async () => {
    await passing(500)
    return { sky: "rain" }
  }
})

const run = (
  more: ChatOptions = {},
  parts: Partial<EngineOptions> = {},
  thread: ReadonlyArray<Message> = [user("Weather in Paris?")]
) =>
  clock.run(
    Chat.run(Engine.make({ adapter: adapter(), tools: [weather], ...parts }), thread, {
      system,
      sessionId: "s1",
      tracing: tracing(),
      ...more
    })
  )

const described = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "gpt-5.5"
}

const counted = {
  "gen_ai.usage.input_tokens": 20,
  "gen_ai.usage.output_tokens": 9,
  "gen_ai.usage.cache_read.input_tokens": 5,
  "gen_ai.usage.cache_creation.input_tokens": 3,
  "gen_ai.usage.reasoning.output_tokens": 2
}

const requestAttributes = {
  ...described,
  "gen_ai.conversation.id": "s1",
  "gen_ai.request.stream": true,
  "gen_ai.response.id": "resp_1",
  "gen_ai.response.model": "gpt-5.5-2026-01-15",
  "gen_ai.response.time_to_first_chunk": 0.25,
  ...counted
}

describe("the attributes, by default", () => {
  test.each<[string, string, object]>([
    ["a request", "chat gpt-5.5", { ...requestAttributes, "gen_ai.response.finish_reasons": ["tool_call"] }],
    [
      "a tool call",
      "execute_tool weather",
      {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "c0",
        "gen_ai.tool.description": "The weather of a city"
      }
    ],
    [
      "an agent",
      "invoke_agent",
      {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5.5",
        "gen_ai.conversation.id": "s1",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 40,
        "gen_ai.usage.output_tokens": 18,
        "gen_ai.usage.cache_read.input_tokens": 10,
        "gen_ai.usage.cache_creation.input_tokens": 6,
        "gen_ai.usage.reasoning.output_tokens": 4,
        "troupe.halted_reason": "completed",
        "troupe.steps": 2
      }
    ]
  ])("of %s are exactly those of the conventions", async (_, span, attributes) => {
    await run()
    expect(spans.attributes(span)).toEqual(attributes)
  })

  test("of an agent have its name, its id, its description and its version", async () => {
    const agent = { name: "guide", id: "a1", description: "Knows the weather", version: "2" }
    await run({ tracing: tracing({ agent }) })
    expect(spans.attributes("invoke_agent guide")).toMatchObject({
      "gen_ai.agent.name": "guide",
      "gen_ai.agent.id": "a1",
      "gen_ai.agent.description": "Knows the weather",
      "gen_ai.agent.version": "2"
    })
  })

  test("of an agent and its requests have the parameters of the call and of the engine", async () => {
    const params = { topP: 0.9, topK: 4, seed: 7, presencePenalty: 0.1, frequencyPenalty: 0.2, stopSequences: ["END"] }
    const responseFormat = { type: "json_object" } as const
    await run({ temperature: 0.5, maxTokens: 100, responseFormat }, { params })
    for (const span of ["invoke_agent", "chat gpt-5.5"]) {
      expect(spans.attributes(span)).toMatchObject({
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.top_k": 4,
        "gen_ai.request.seed": 7,
        "gen_ai.request.presence_penalty": 0.1,
        "gen_ai.request.frequency_penalty": 0.2,
        "gen_ai.request.stop_sequences": ["END"],
        "gen_ai.output.type": "json"
      })
    }
  })

  test("of a request have its cost, which the conventions do not name", async () => {
    await run({}, { prices: () => 0.5 })
    expect(spans.attributes("chat gpt-5.5")["troupe.usage.cost"]).toBe(0.5)
    expect(spans.attributes("invoke_agent")["troupe.usage.cost"]).toBe(1)
  })
})

const jsonOf = (span: string, key: string): unknown => JSON.parse(String(spans.attributes(span)[key]))

const question = { role: "user", parts: [{ type: "text", content: "Weather in Paris?" }] }

describe("with content", () => {
  const content = { tracing: tracing({ content: true }), instructions: "Be brief" }
  const withContent = () => ({ ...content, tracing: tracing({ content: true }) })

  test("the messages have roles and parts, with tool calls, their results and reasoning", async () => {
    await run(withContent())
    const requests = spans.all.filter(({ name }) => name === "chat gpt-5.5")
    const call = {
      role: "assistant",
      parts: [
        { type: "reasoning", content: "Look it up" },
        { type: "tool_call", id: "c0", name: "weather", arguments: { city: "Paris" } }
      ]
    }
    expect(jsonOf("chat gpt-5.5", "gen_ai.input.messages")).toEqual([question])
    expect(jsonOf("chat gpt-5.5", "gen_ai.output.messages")).toEqual([{ ...call, finish_reason: "tool_call" }])
    expect(JSON.parse(String(requests[1]?.attributes.get("gen_ai.input.messages")))).toEqual([
      question,
      call,
      { role: "tool", parts: [{ type: "tool_call_response", id: "c0", response: '{"sky":"rain"}' }] }
    ])
    const answer = [{ role: "assistant", parts: [{ type: "text", content: "Rainy." }], finish_reason: "stop" }]
    expect(JSON.parse(String(requests[1]?.attributes.get("gen_ai.output.messages")))).toEqual(answer)
    expect(jsonOf("invoke_agent", "gen_ai.input.messages")).toEqual([question])
    expect(jsonOf("invoke_agent", "gen_ai.output.messages")).toEqual(answer)
  })

  test.each(["chat gpt-5.5", "invoke_agent"])(
    "%s has the system instructions and the tool definitions",
    async (span) => {
      await run(withContent())
      expect(jsonOf(span, "gen_ai.system_instructions")).toEqual([{ type: "text", content: "Be brief" }])
      expect(jsonOf(span, "gen_ai.tool.definitions")).toMatchObject([
        {
          type: "function",
          name: "weather",
          description: "The weather of a city",
          parameters: { type: "object", properties: { city: { type: "string" } } }
        }
      ])
    }
  )

  test("a tool call has its arguments and its result", async () => {
    await run(withContent())
    expect(jsonOf("execute_tool weather", "gen_ai.tool.call.arguments")).toEqual({ city: "Paris" })
    expect(jsonOf("execute_tool weather", "gen_ai.tool.call.result")).toEqual({ sky: "rain" })
  })

  test("images and files are blobs or URIs with their modality", async () => {
    const thread: ReadonlyArray<Message> = [
      {
        role: "user",
        name: "ada",
        content: [
          { type: "text", text: "See" },
          { type: "image", image: { url: "https://example.com/a.png" } },
          { type: "image", image: { url: "data:image/png;base64,AAAA" } },
          { type: "image", image: { base64: "BBBB", mediaType: "image/jpeg" } },
          { type: "file", file: { base64: "CCCC" }, mediaType: "application/pdf" },
          { type: "file", file: { url: "https://example.com/a.mp3" }, mediaType: "audio/mpeg" }
        ]
      }
    ]
    await run(withContent(), {}, thread)
    expect(jsonOf("chat gpt-5.5", "gen_ai.input.messages")).toEqual([
      {
        role: "user",
        name: "ada",
        parts: [
          { type: "text", content: "See" },
          { type: "uri", modality: "image", uri: "https://example.com/a.png" },
          { type: "blob", modality: "image", mime_type: "image/png", content: "AAAA" },
          { type: "blob", modality: "image", mime_type: "image/jpeg", content: "BBBB" },
          { type: "blob", modality: "document", mime_type: "application/pdf", content: "CCCC" },
          { type: "uri", modality: "audio", mime_type: "audio/mpeg", uri: "https://example.com/a.mp3" }
        ]
      }
    ])
  })
})

describe("TRACE4", () => {
  const failing: Adapter = {
    name: "mine",
    stream: () => Promise.reject(new AdapterError("invalid_request", { message: "the text SECRET is refused" }))
  }
  const broken = tool({
    name: "weather",
    execute: () => {
      throw new Error("SECRET")
    }
  })

  const written = () =>
    JSON.stringify(
      spans.all.map(({ name, attributes, status }) => [
        name,
        [...attributes],
        status._tag === "Ended" && status.exit._tag === "Failure" ? String(status.exit.cause) : ""
      ])
    )

  test.each<[string, Partial<EngineOptions>]>([
    ["a turn", {}],
    ["a failed request", { adapter: failing }],
    ["a failed tool", { tools: [broken] }]
  ])("without content, no span of %s has the text of a message, a result or an error", async (_, parts) => {
    await run({ instructions: "SECRET" }, parts, [user("SECRET")]).catch(() => undefined)
    expect(spans.all.length).toBeGreaterThan(2)
    expect(written()).not.toMatch(/SECRET|Paris|Rainy|rain|Look it up/)
  })

  test("with content, a span has the text of its error", async () => {
    await run({ tracing: tracing({ content: true }) }, { adapter: failing }).catch(() => undefined)
    expect(written()).toContain("the text SECRET is refused")
  })
})

describe("the metrics", () => {
  const answered = { ...described, "gen_ai.response.model": "gpt-5.5-2026-01-15" }
  const tokens = (type: string, count: number) => [tokenUsage.name, count, { ...answered, "gen_ai.token.type": type }]
  const request = [
    [timeToFirstChunk.name, 0.25, described],
    tokens("input", 20),
    tokens("output", 9),
    [requestDuration.name, 1, answered]
  ]
  const toolAttributes = { "gen_ai.tool.name": "weather", "gen_ai.tool.type": "function" }

  test("TRACE5 of a turn are its tokens and the durations of its spans", async () => {
    await run()
    expect(measured).toEqual([
      ...request,
      [toolDuration.name, 0.5, toolAttributes],
      ...request,
      [agentDuration.name, 2.5, {}]
    ])
    expect([spans.ms("chat gpt-5.5"), spans.ms("invoke_agent")]).toEqual([1000, 2500])
  })

  test("of an operation that failed have its error", async () => {
    const refusing: Adapter = { name: "openai.chat", stream: () => Promise.reject(new AdapterError("rate_limited")) }
    await run({ retry: false, model: "m", tracing: tracing({ agent: "guide" }) }, { adapter: refusing }).catch(
      () => undefined
    )
    const error = { "error.type": "rate_limited" }
    expect(measured).toEqual([
      [requestDuration.name, 0, { ...described, "gen_ai.request.model": "m", ...error }],
      [agentDuration.name, 0, { "gen_ai.agent.name": "guide", ...error }]
    ])
  })

  test("TRACE3 an exception of record does not affect the run", async () => {
    const record = () => {
      throw new Error("no meter")
    }
    expect((await run({ tracing: tracing({ record }) })).haltedReason).toBe("completed")
  })

  test.each([
    [
      tokenUsage,
      "gen_ai.client.token.usage",
      "{token}",
      [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864]
    ],
    [
      requestDuration,
      "gen_ai.client.operation.duration",
      "s",
      [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
    ],
    [
      agentDuration,
      "gen_ai.invoke_agent.duration",
      "s",
      [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
    ]
  ])("have the names, units and boundaries of the conventions", (metric, name, unit, boundaries) => {
    expect(metric).toMatchObject({ name, unit, boundaries })
  })
})
