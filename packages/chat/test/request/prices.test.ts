import { System, Telemetry } from "@troupe/otp"
import { afterEach, beforeEach, expect, test } from "vitest"
import { AdapterError } from "../../src/errors/ChatError.ts"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import type { Cost, Prices } from "../../src/adapter/prices.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { EngineOptions } from "../../src/options/engineOptions.ts"
import type { Usage } from "../../src/model/Usage.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, hi, readAll, says } from "../double/scripts.ts"

const check = leakCheck()

let system = System.make()

beforeEach(() => {
  system = System.make()
})

afterEach(() => System.stop(system))

const table = Engine.prices({
  big: { input: 10, cachedInput: 1, cacheWriteInput: 12.5, output: 40, reasoning: 60 },
  small: { input: 2, output: 4 },
  "azure/small": { input: 3, output: 6 }
})

const openai = { adapter: "fake", provider: "openai" }
const azure = { adapter: "fake", provider: "azure" }

const million = 1_000_000

test.each<[string, Usage, Cost]>([
  [
    "each kind of token has its price",
    {
      inputTokens: 10 * million,
      cachedInputTokens: 6 * million,
      cacheWriteInputTokens: million,
      outputTokens: 2 * million,
      reasoningTokens: million
    },
    { inputCost: 30 + 6 + 12.5, outputCost: 40 + 60 }
  ],
  ["no cache, no reasoning", { inputTokens: million, outputTokens: million }, { inputCost: 10, outputCost: 40 }],
  ["reported zeros cost nothing", { inputTokens: 0, outputTokens: 0 }, { inputCost: 0, outputCost: 0 }],
  [
    "more cached than read is no negative cost",
    { inputTokens: 0, cachedInputTokens: million, outputTokens: 0, reasoningTokens: million },
    { inputCost: 1, outputCost: 60 }
  ]
])("a table of prices: %s", (_, usage, cost) => {
  expect(table("big", usage, openai)).toEqual(cost)
})

test("without prices of their own, cached tokens cost as input, and reasoning as output", () => {
  const usage = {
    inputTokens: 2 * million,
    cachedInputTokens: million,
    outputTokens: million,
    reasoningTokens: million
  }
  expect(table("small", usage, openai)).toEqual({ inputCost: 4, outputCost: 4 })
})

test("the price of a provider has precedence, and a dated name has the price of the name", () => {
  const usage = { inputTokens: million, outputTokens: 0 }
  expect(table("small", usage, azure)).toEqual({ inputCost: 3, outputCost: 0 })
  for (const name of ["small-2026-01-15", "small-20260115", "small@20260115", "small-latest"]) {
    expect(table(name, usage, openai)).toEqual({ inputCost: 2, outputCost: 0 })
    expect(table(name, usage, azure)).toEqual({ inputCost: 3, outputCost: 0 })
  }
})

test("PRICE1 a model that is not in the table has no price, and so has a usage without the tokens of both directions", () => {
  const usage = { inputTokens: million, outputTokens: million }
  for (const name of ["small-mini", "smal", "", "toString", "Small"]) expect(table(name, usage, openai)).toBeUndefined()
  expect(table("small", { inputTokens: 1 }, openai)).toBeUndefined()
  expect(table("small", { totalTokens: 1 }, openai)).toBeUndefined()
})

test.each([
  [{ m: { input: -1, output: 1 } }, "m.input: must_be_a_price, 0 or more"],
  [{ m: { input: 1 } }, "m.output: missing; write the price of a million tokens"],
  [{ m: { input: 1, output: 1, cached: 1 } }, "m.cached: unknown; use input, output, cachedInput"],
  [{ m: 3 }, "m: must_be_an_object of input, output"],
  ["m", "must_be_an_object of model names and their prices"]
])("an invalid table is refused with the path of the invalid price: %j", (given, message) => {
  expect(() => Engine.prices(given as never)).toThrow(message)
})

test("prices that are no function are refused, with the helper for a table", () => {
  expect(() => Engine.make({ prices: { m: { input: 1, output: 1 } } as never })).toThrow("write Engine.prices(table)")
  expect(() => Engine.make({ prices: 3 as never })).toThrow("must be a function of the model and its usage")
})

/** An adapter that yields these events. */
const yielding = (events: ReadonlyArray<AdapterEvent>, more: Partial<Adapter> = {}): Adapter => ({
  name: "test",
  ...more,
  stream: async function* () {
    yield* events
  } as Adapter["stream"]
})

const reply = (usage: Usage | undefined, model?: string): ReadonlyArray<AdapterEvent> => [
  {
    type: "message_started",
    message: { role: "assistant", content: "" },
    ...(model === undefined ? {} : { metadata: { model } })
  },
  { type: "text_delta", id: null, delta: "Hi" },
  { type: "text_completed", id: null, text: "Hi" },
  {
    type: "message_completed",
    message: { role: "assistant", content: "Hi" },
    finishReason: "stop",
    ...(usage === undefined ? {} : { usage })
  }
]

const usage: Usage = { inputTokens: million, outputTokens: million }

const usageOf = async (adapter: Adapter, prices: Prices = table, more: Partial<EngineOptions> = {}) =>
  (await Chat.generate(Engine.make({ adapter, prices, ...more }), hi, { system })).usage

const smallCost = { inputCost: 2, outputCost: 4, totalCost: 6 }

test.each<[string, Adapter, string | undefined, object]>([
  ["the model that answered", yielding(reply(usage, "small"), { model: "big" }), "big", smallCost],
  ["its dated name", yielding(reply(usage, "small-2026-01-15")), undefined, smallCost],
  ["else the adapter's model", yielding(reply(usage, "gpt-oss"), { model: "small" }), "big", smallCost],
  ["else the requested model", yielding(reply(usage)), "small", smallCost],
  ["else the adapter", yielding(reply(usage), { name: "small" }), undefined, smallCost],
  [
    "at the adapter's provider",
    yielding(reply(usage, "small"), { provider: "azure.responses" }),
    undefined,
    { inputCost: 3, outputCost: 6, totalCost: 9 }
  ]
])("the cost of a request is that of %s", async (_, adapter, model, cost) => {
  expect(await usageOf(adapter, table, model === undefined ? {} : { model })).toEqual({ ...usage, ...cost })
})

test("the events have the cost, too, and usage that comes before the end keeps it", async () => {
  const early: AdapterEvent = { type: "raw_chunk", chunk: { type: "usage", usage } }
  const [started, ...rest] = reply(undefined, "small")
  const adapter = yielding([started as AdapterEvent, early, ...rest])
  const engine = Engine.make({ adapter, prices: table })
  const seen: Array<AdapterEvent> = []
  const events = await readAll(await Chat.streamGenerate(engine, hi, { system, onEvent: (event) => seen.push(event) }))
  const priced = { ...usage, ...smallCost }
  for (const list of [events, seen]) {
    expect(list.find(({ type }) => type === "raw_chunk")).toMatchObject({ chunk: { usage: priced } })
    expect(list.find(({ type }) => type === "message_completed")).toMatchObject({ usage: priced })
  }
})

test("COST1 a cost that the adapter reports is not changed", async () => {
  const reported = { ...usage, totalCost: 0.25 }
  expect(await usageOf(yielding(reply(reported, "small")))).toEqual(reported)
  expect(await usageOf(yielding(reply({ ...usage, outputCost: 1 }, "unheard")))).toEqual({ ...usage, outputCost: 1 })
})

test("COST2 a reply without a known cost is counted, and named by telemetry", async () => {
  const named: Array<unknown> = []
  Telemetry.attach(system, "request.unpriced", ({ metadata }) => named.push(metadata))
  expect(await usageOf(yielding(reply(usage, "unheard")))).toEqual({ ...usage, unpricedRequests: 1 })
  expect(await usageOf(yielding(reply(undefined, "small")))).toEqual({ unpricedRequests: 1 })
  expect(named).toEqual([
    { adapter: "test", provider: "test", model: "unheard" },
    { adapter: "test", provider: "test", model: "small" }
  ])
})

test("COST3 without prices a usage stays as reported", async () => {
  const engine = Engine.make({ adapter: yielding(reply(usage, "small")) })
  expect((await Chat.generate(engine, hi, { system })).usage).toEqual(usage)
})

test("a function of prices is called with the model, the usage and the adapter, and may return a sum", async () => {
  const asked: Array<unknown> = []
  const prices: Prices = (...given) => {
    asked.push(given)
    return given[0] === "alias" ? 7 : undefined
  }
  const adapter = yielding(reply(usage, "exact"), { model: "alias", provider: "openai.responses" })
  expect(await usageOf(adapter, prices)).toEqual({ ...usage, totalCost: 7 })
  const by = { adapter: "test", provider: "openai" }
  expect(asked).toEqual([
    ["exact", usage, by],
    ["alias", usage, by]
  ])
})

test.each<[string, Prices]>([
  [
    "throws",
    () => {
      throw new Error("no price list")
    }
  ],
  ["returns a negative cost", () => -1],
  ["returns no number", () => Number.NaN],
  ["returns a promise", () => Promise.resolve(1) as never]
])("a function of prices that %s is reported, and the request has no cost", async (_, prices) => {
  const failures: Array<unknown> = []
  Telemetry.attach(system, "prices.failure", ({ metadata }) => failures.push(metadata))
  expect(await usageOf(yielding(reply(usage, "small")), prices)).toEqual({ ...usage, unpricedRequests: 1 })
  expect(failures).toMatchObject([{ model: "small", error: expect.any(Error) }])
})

test("the cost of a fallback is that of its own model", async () => {
  const refusing: Adapter = {
    name: "main",
    stream: () => Promise.reject(new AdapterError("authentication_failed"))
  }
  const fallbacks = [{ adapter: yielding(reply(usage)), model: "small" }]
  expect(await usageOf(refusing, table, { model: "big", fallbacks })).toMatchObject(smallCost)
})

const using = (...usages: ReadonlyArray<Usage>): ReadonlyArray<Script> => [
  ...usages.map((reported): Script => [{ usage: reported }, ...calls("echo")]),
  says("done")
]

const spending = async (usages: ReadonlyArray<Usage>, cost: number, parts: Partial<EngineOptions>) => {
  const engine = Engine.make({ adapter: check.fake({ scripts: using(...usages) }), tools: [echo], ...parts })
  const { haltedReason, metadata, steps } = await Chat.run(engine, hi, { budget: { cost }, system })
  return { haltedReason, metadata, steps: steps.length }
}

test("prices end a turn whose budget of cost is used up", async () => {
  const parts = { prices: table, model: "small" }
  expect(await spending([usage, usage, usage], 12, parts)).toEqual({
    haltedReason: "budget_cost",
    metadata: { budget: 12, spent: 12 },
    steps: 2
  })
  expect(await spending([usage], 1000, parts)).toMatchObject({ haltedReason: "completed" })
})

test("BUDG1 a request whose cost is not known ends a turn with a budget of cost, with the name of its model", async () => {
  expect(await spending([usage, usage], 100, { prices: table, model: "unheard" })).toEqual({
    haltedReason: "budget_cost",
    metadata: { budget: 100, spent: 0, unpriced: ["unknown"] },
    steps: 1
  })
  expect(await spending([{ ...usage, totalCost: 1 }, usage], 100, {})).toMatchObject({
    haltedReason: "budget_cost",
    metadata: { budget: 100, spent: 1 },
    steps: 2
  })
  expect(await spending([{}, {}], 100, {})).toMatchObject({ haltedReason: "completed" })
})

test("a chat sums up its costs, and counts the requests that have none", async () => {
  let requests = 0
  const prices: Prices = () => (++requests === 2 ? undefined : 6)
  const troupe = await Troupe.start({ adapter: yielding(reply(usage, "small")), prices })
  const chat = await troupe.chat("c1")
  for (const said of ["one", "two", "three"]) await chat.send(said).result()
  expect(chat.getSnapshot()?.context.usage).toEqual({
    inputTokens: 3 * million,
    outputTokens: 3 * million,
    totalCost: 12,
    unpricedRequests: 1
  })
  await troupe.stop()
})
