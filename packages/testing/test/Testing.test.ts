import { describe, expect, test } from "vitest"
import { Fake, ok } from "@troupe/chat"
import { AdapterError } from "@troupe/chat/errors"
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"
import { ToolExecutor, ToolResultEncoder } from "@troupe/chat/tools"
import { Testing } from "../src/index.ts"

type Situation = Awaited<ReturnType<Parameters<typeof Testing.adapterLaws>[0]["text"]>>

const fake = (script: Fake.Script) => (): Situation => {
  const adapter = Fake.make({ script })
  return { adapter, open: () => adapter.open }
}

const refusals = Object.fromEntries(
  AdapterError.reasons.map((reason) => [reason, fake([{ preflightError: reason }])])
) as Partial<Record<AdapterError["reason"], () => Situation>>

const answer: Fake.Script = [{ text: "Hel" }, { text: "lo" }, { finish: "stop" }]

const fakeLaws = Testing.adapterLaws({
  text: fake(answer),
  emptyText: fake([{ text: "" }, { finish: "stop" }]),
  toolCalls: fake([{ toolCall: { id: "c0", name: "t", arguments: { x: 1 } } }, { finish: "tool_calls" }]),
  refusals,
  breaks: fake([{ text: "par" }, { error: new AdapterError("rate_limited", { retryAfterMs: 20 }) }]),
  endless: fake([{ text: "on" }, { hang: true }])
})

describe("the scripted adapter", () => {
  test.each(fakeLaws)("$title", async ({ check }) => {
    await expect(check()).resolves.toBeUndefined()
  })
})

describe("the executor in this process", () => {
  test.each(Testing.executorLaws(() => ToolExecutor.inProcess))("$title", async ({ check }) => {
    await expect(check()).resolves.toBeUndefined()
  })
})

describe("the JSON encoder", () => {
  test.each(Testing.encoderLaws(() => ToolResultEncoder.json))("$title", async ({ check }) => {
    await expect(check()).resolves.toBeUndefined()
  })
})

const brokenBy = async (
  laws: ReadonlyArray<ReturnType<typeof Testing.adapterLaws>[number]>
): Promise<ReadonlyArray<string>> => {
  const broken: Array<string> = []
  for (const { title, check } of laws) await check().catch(() => broken.push(title))
  return broken
}

const completed: AdapterEvent = {
  type: "message_completed",
  message: { role: "assistant", content: "hi" },
  finishReason: "stop"
}

async function* careless(): AsyncGenerator<AdapterEvent, void> {
  yield { type: "text_delta", id: null, delta: "hi" }
  yield completed
}

test("an adapter that breaks the laws is found out", async () => {
  const adapter: Adapter.Adapter = { name: "careless", stream: () => careless() }
  const broken = await brokenBy(Testing.adapterLaws({ text: () => ({ adapter, open: () => 1 }) }))
  expect(broken).toHaveLength(6)
  const refuses: Adapter.Adapter = { name: "plain", stream: () => Promise.reject(new Error("no")) }
  const laws = Testing.adapterLaws({ text: fake(answer), refusals: { timeout: () => ({ adapter: refuses }) } })
  expect(await brokenBy(laws)).toEqual([
    "a request refused with timeout rejects with that AdapterError, before any event"
  ])
})

test("TEXT1. An adapter that starts an empty text and does not complete it is found out, and one that completes none", async () => {
  const saying =
    (...events: ReadonlyArray<AdapterEvent>) =>
    () => ({
      adapter: {
        name: "saying",
        async *stream() {
          yield { type: "message_started", message: { role: "assistant", content: "" } } as const
          yield* events
          yield completed
        }
      }
    })
  const empty = { type: "text_delta", id: null, delta: "" } as const
  const closed = { type: "text_completed", id: null, text: "" } as const
  const law = "every text that an adapter starts is completed, in the situation emptyText"
  const brokenWith = (emptyText: () => Situation) => brokenBy(Testing.adapterLaws({ text: fake(answer), emptyText }))
  expect(await brokenWith(saying(empty))).toEqual([law])
  expect(await brokenWith(saying(closed))).toEqual([law])
  expect(await brokenWith(saying(empty, closed, closed))).toEqual([law])
  expect(await brokenWith(saying(empty, closed))).toEqual([])
  expect(await brokenWith(saying())).toEqual([])
})

test("an executor that breaks the laws is found out", async () => {
  const careful = { execute: () => ok("always") }
  expect(await brokenBy(Testing.executorLaws(() => careful))).toHaveLength(7)
})

test("an encoder that breaks the laws is found out", async () => {
  let calls = 0
  expect(await brokenBy(Testing.encoderLaws(() => ({ encode: () => `${calls++}` })))).toEqual([
    "the same value has the same text",
    "a failure's text shows its message, and never its stack"
  ])
})
