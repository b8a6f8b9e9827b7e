import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Chat, Engine, Troupe, user } from "@troupe/chat"
import { expect, test } from "vitest"
import { aiSdk, type AiSdkModel } from "../../src/index.ts"
import { only, pull } from "../loopback/pulling.ts"
import { finish, modelV4, streamOf } from "../loopback/scriptedModel.ts"

/** A `fetch` that answers with these events. */
const answering = (events: ReadonlyArray<object>) => async () =>
  new Response(
    events
      .map((event) => `event: ${"type" in event ? event.type : "message"}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(""),
    {
      headers: { "content-type": "text/event-stream" }
    }
  )

/** A `fetch` whose answer has these events, and breaks when the promise resolves. */
const cutOff = (events: ReadonlyArray<object>, broken: Promise<void>) => async () => {
  const whole = await answering(events)()
  const text = await whole.text()
  let pulls = 0
  const body = new ReadableStream({
    pull: (controller) => {
      pulls += 1
      if (pulls === 1) return controller.enqueue(new TextEncoder().encode(text))
      return broken.then(() => controller.error(new Error("connection lost")))
    }
  })
  return new Response(body, { headers: whole.headers })
}

const key = { apiKey: "k" }

const openAi = createOpenAI({
  ...key,
  fetch: answering([
    { type: "response.created", response: { id: "r1", created_at: 1, model: "gpt-5.5-2026-01-15" } },
    { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m1" } },
    { type: "response.output_text.delta", item_id: "m1", delta: "Hi" },
    { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "m1" } },
    {
      type: "response.completed",
      response: {
        usage: {
          input_tokens: 1000,
          input_tokens_details: { cached_tokens: 600 },
          output_tokens: 200,
          output_tokens_details: { reasoning_tokens: 50 }
        }
      }
    }
  ])
})

/** The beginning of a reply of Claude, with the usage so far. */
const claudeBegins = [
  {
    type: "message_start",
    message: {
      id: "m1",
      type: "message",
      role: "assistant",
      model: "claude-opus-5-20260115",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 300, cache_read_input_tokens: 600, cache_creation_input_tokens: 100, output_tokens: 1 }
    }
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } }
]

const anthropic = createAnthropic({
  ...key,
  fetch: answering([
    ...claudeBegins,
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 200 } },
    { type: "message_stop" }
  ])
})

const google = createGoogle({
  ...key,
  fetch: answering([
    {
      candidates: [{ content: { role: "model", parts: [{ text: "Hi" }] }, finishReason: "STOP", index: 0 }],
      usageMetadata: {
        promptTokenCount: 1000,
        cachedContentTokenCount: 600,
        candidatesTokenCount: 150,
        thoughtsTokenCount: 50,
        totalTokenCount: 1200
      }
    }
  ])
})

const compatible = createOpenAICompatible({
  name: "local",
  baseURL: "http://localhost:1/v1",
  includeUsage: true,
  fetch: answering([
    { id: "c1", model: "small", choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }] },
    {
      id: "c1",
      model: "small",
      choices: [],
      usage: { prompt_tokens: 1000, completion_tokens: 200, prompt_tokens_details: { cached_tokens: 600 } }
    }
  ])
})

const prices = Engine.prices({
  "gpt-5.5": { input: 2, cachedInput: 0.5, output: 10, reasoning: 20 },
  "claude-opus-5": { input: 5, cachedInput: 0.5, cacheWriteInput: 6.25, output: 25 },
  "google/gemini-3": { input: 2, cachedInput: 0.2, output: 12 },
  "local/small": { input: 1, output: 1 },
  "scripted/four": { input: 1, cachedInput: 0, cacheWriteInput: 2, output: 1, reasoning: 3 }
})

const scripted = modelV4(() =>
  streamOf([
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "Hi" },
    { type: "text-end", id: "t" },
    finish()
  ])
)

test.each<[string, AiSdkModel, number, number]>([
  ["OpenAI Responses", openAi("gpt-5.5"), 400 * 2 + 600 * 0.5, 150 * 10 + 50 * 20],
  ["Anthropic", anthropic("claude-opus-5"), 300 * 5 + 600 * 0.5 + 100 * 6.25, 200 * 25],
  ["Google", google("gemini-3"), 400 * 2 + 600 * 0.2, 200 * 12],
  ["an OpenAI-compatible server", compatible("small"), 1000, 200],
  ["a scripted model", scripted, 12 + 3 * 2, 7 + 2 * 3]
])(
  "the usage of %s has its cost, cached tokens and reasoning at prices of their own",
  async (_, model, input, output) => {
    const engine = Engine.make({ adapter: aiSdk(model), prices })
    const { outputText, usage } = await Chat.generate(engine, [user("Hello")])
    expect(outputText).toBe("Hi")
    expect(usage.inputCost).toBeCloseTo(input / 1e6, 12)
    expect(usage.outputCost).toBeCloseTo(output / 1e6, 12)
    expect(usage.totalCost).toBeCloseTo((input + output) / 1e6, 12)
    expect(usage.unpricedRequests).toBeUndefined()
  }
)

test.each([true, false])(
  "PART9 a reply that is cut off after its beginning counts with what its provider reported (it breaks: %s)",
  async (breaks) => {
    const broken = Promise.withResolvers<void>()
    const claude = createAnthropic({ ...key, fetch: cutOff(claudeBegins, broken.promise) })
    const adapter = aiSdk(claude("claude-opus-5"))
    const troupe = await Troupe.start({ adapter, prices, retry: false, maxTurns: 5, budget: { tokens: 500 } })
    const chat = await troupe.chat("c")
    const turn = chat.send("Hello")
    for await (const event of turn) if (event.type === "text_delta") break
    if (breaks) broken.resolve()
    else await chat.cancel()
    const { haltedReason, usage, cost } = await turn.result()
    expect(haltedReason).toBe(breaks ? "error" : "cancelled")
    expect(usage).toMatchObject({
      inputTokens: 1000,
      cachedInputTokens: 600,
      cacheWriteInputTokens: 100,
      outputTokens: 1
    })
    expect(cost).toBeCloseTo((300 * 5 + 600 * 0.5 + 100 * 6.25 + 25) / 1e6, 12)
    expect((await chat.view()).usage).toMatchObject({ inputTokens: 1000 })
    await troupe.stop()
  }
)

test("PART9 the usage of the end replaces what was reported at the beginning, and keeps the rest", async () => {
  const events = await pull(aiSdk(anthropic("claude-opus-5")))
  const reported = { inputTokens: 1000, cachedInputTokens: 600, cacheWriteInputTokens: 100, outputTokens: 1 }
  expect(events.slice(0, 2)).toMatchObject([
    { type: "message_started" },
    { type: "raw_chunk", chunk: { type: "usage", usage: reported } }
  ])
  expect(only(events, "message_completed").usage).toEqual({ ...reported, outputTokens: 200 })
})

test("an adapter has the provider and the name of its model", () => {
  expect(aiSdk(openAi("gpt-5.5"), { name: "mine" })).toMatchObject({
    name: "mine",
    provider: "openai.responses",
    model: "gpt-5.5"
  })
})

/** The blocks of a request to Claude, in the order of its cache, and the places of the marks among them. */
const blocksOf = (body: Readonly<Record<string, unknown>>) => {
  const list = (value: unknown) => (Array.isArray(value) ? (value as ReadonlyArray<Record<string, unknown>>) : [])
  const blocks = [
    ...list(body["tools"]),
    ...list(body["system"]),
    ...list(body["messages"]).flatMap((one) => list(one["content"]))
  ]
  const texts = blocks.map((block) => JSON.stringify({ ...block, cache_control: undefined }))
  return { texts, marks: blocks.flatMap(({ cache_control: mark }, at) => (mark === undefined ? [] : [at])) }
}

test("CACHE1: with breakpoints a provider that caches by marks has read 90 % of a chat of 50 turns, without them nothing", async () => {
  const shares: Array<number> = []
  const costs: Array<number> = []
  for (const cacheBreakpoints of [{ anthropic: { cacheControl: { type: "ephemeral" } } }, undefined]) {
    const cache = new Set<string>()
    const most: Array<number> = []
    const claude = createAnthropic({
      ...key,
      fetch: async (_, init) => {
        const { texts, marks } = blocksOf(
          JSON.parse(typeof init?.body === "string" ? init.body : "{}") as Record<string, unknown>
        )
        most.push(marks.length)
        const before = (at: number) => texts.slice(0, at + 1).join("\n")
        const read = marks
          .flatMap((mark) => Array.from({ length: 20 }, (__, back) => mark - back))
          .filter((at) => at >= 0 && cache.has(before(at)))
        const [from, to] = [Math.max(-1, ...read), Math.max(-1, ...marks)].map((at) =>
          at === -1 ? 0 : before(at).length
        )
        for (const mark of marks) cache.add(before(mark))
        const input = { cache_read_input_tokens: from, cache_creation_input_tokens: (to ?? 0) - (from ?? 0) }
        const usage = { input_tokens: before(texts.length).length - (to ?? 0), output_tokens: 0, ...input }
        return answering([
          { type: "message_start", message: { id: "m", model: "claude", role: "assistant", content: [], usage } },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "A reply of some words." } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 9 } },
          { type: "message_stop" }
        ])()
      }
    })
    const ofClaude = Engine.prices({ claude: { input: 10, cachedInput: 1, cacheWriteInput: 12.5, output: 10 } })
    const troupe = await Troupe.start({
      adapter: aiSdk(claude("claude"), { cacheBreakpoints }),
      instructions: "You are kind, and you answer with few words.",
      prices: ofClaude
    })
    const chat = await troupe.chat("a")
    for (let turn = 0; turn < 50; turn++) await chat.send(`The question ${turn}, in some words.`).result()
    const { inputTokens = 0, cachedInputTokens = 0, totalCost = 0 } = chat.getSnapshot()?.context.usage ?? {}
    shares.push(cachedInputTokens / inputTokens)
    costs.push(totalCost)
    expect(Math.max(...most)).toBeLessThanOrEqual(4)
    await troupe.stop()
  }
  expect(shares[0]).toBeGreaterThan(0.9)
  expect(shares[1]).toBe(0)
  expect((costs[0] ?? 0) / (costs[1] ?? 0)).toBeLessThan(0.3)
})
