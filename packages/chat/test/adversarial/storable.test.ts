/** What no store can keep never enters a thread. */
import { describe, expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import * as Codec from "../../src/session/Codec.ts"
import { AdapterError, ValidationError } from "../../src/errors/ChatError.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { UserInput } from "../../src/record/userMessage.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { parseArguments } from "../../src/model/ToolCall.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handling, only, readAll } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

/** A store that keeps text, as those in databases do. */
const textStore = (): RecordStore & { readonly texts: Map<string, string> } => {
  const texts = new Map<string, string>()
  return {
    texts,
    load: (id) => {
      const text = texts.get(id)
      return text === undefined ? undefined : Codec.decode("ChatRecord", text)
    },
    save: (record) => void texts.set(record.id, Codec.encode("ChatRecord", record)),
    delete: (id) => void texts.delete(id)
  }
}

const message = { role: "assistant" as const, content: "" }
const finish = (finishReason: string, more: object = {}) =>
  ({ type: "message_completed", message, finishReason, ...more }) as AdapterEvent
const answer: ReadonlyArray<AdapterEvent> = [
  { type: "message_started", message },
  { type: "text_delta", id: null, delta: "ok" },
  finish("stop")
]

/** Says each list of events in turn, and the answer behind them. */
const saying = (...replies: ReadonlyArray<ReadonlyArray<AdapterEvent>>): Adapter => {
  let request = 0
  return {
    name: "saying",
    stream: () => {
      const events = replies[request++] ?? answer
      return (async function* () {
        yield* events
      })()
    }
  }
}

const calling = (call: object): ReadonlyArray<AdapterEvent> => [
  { type: "message_started", message },
  { type: "tool_call_completed", id: "c0", name: "t", arguments: {}, rawArguments: "{}", ...call },
  finish("tool_calls")
]

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`
const fromText = (rawArguments: string) => ({ rawArguments, arguments: parseArguments(rawArguments) })

const cycle: { self?: unknown } = {}
cycle.self = cycle

const startChat = async (adapter: Adapter, options: Omit<TroupeOptions, "adapter"> = {}) => {
  let ran = 0
  const store = textStore()
  const tools = [handling("t", () => ok(++ran))]
  const { troupe } = await check.troupe({ adapter, tools, store, ...options })
  return { chat: await troupe.chat("a"), store, ran: () => ran }
}

/** The chat takes further turns, and the store has them. */
const goesOn = async ({ chat, store }: Awaited<ReturnType<typeof startChat>>) => {
  expect(await chat.send("again").result()).toMatchObject({ haltedReason: "completed" })
  expect(await chat.retry().result()).toMatchObject({ haltedReason: "completed" })
  const kept = Codec.decode("ChatRecord", store.texts.get("a") ?? "")
  expect(kept.thread).toEqual(chat.getSnapshot()?.context.thread)
}

describe("STORABLE1 a call that cannot be stored is `invalid`, and every later turn is stored", () => {
  const unstorable: ReadonlyArray<readonly [name: string, call: object, says: string]> = [
    ["arguments nested 101 deep", fromText(nested(101)), "nested deeper than 100 levels"],
    ["arguments nested 500 deep", fromText(nested(500)), "nested deeper than 100 levels"],
    ["arguments nested 5,000 deep", fromText(nested(5_000)), "nested deeper than 100 levels"],
    ["arguments with a cycle", { arguments: cycle }, "self is circular"],
    ["arguments with a function", { arguments: { f: () => 1 } }, "f is function"],
    [
      "metadata with a function",
      { metadata: { f: () => 1 } },
      "the metadata of the call cannot be stored: f is function"
    ],
    ["metadata with a cycle", { metadata: cycle }, "the metadata of the call cannot be stored: self is circular"]
  ]

  test.each(unstorable)("%s", async (_, call, says) => {
    const started = await startChat(saying(calling(call)))
    const turn = started.chat.send("hi")
    const events = await readAll(turn)
    const completed = only(events, "tool_call_completed")
    expect(completed).toMatchObject({ arguments: null, problem: expect.stringContaining(says) })
    expect(() => JSON.stringify(completed)).not.toThrow()
    expect(only(events, "tool_execution_completed").outcome).toBe("invalid")
    const result = await turn.result()
    expect(result).toMatchObject({ haltedReason: "completed" })
    expect(result.thread.messages[2]).toMatchObject({
      role: "tool",
      outcome: "invalid",
      content: expect.stringContaining(says)
    })
    expect(started.ran()).toBe(0)
    await goesOn(started)
  })

  test("arguments nested 100 deep are stored", async () => {
    const started = await startChat(saying(calling(fromText(nested(100)))))
    expect((await started.chat.send("hi").result()).thread.messages[2]).toMatchObject({ outcome: "completed" })
    await goesOn(started)
  })
})

describe("ASRC7 a call whose arguments exceed `maxToolArgumentCharacters` is `invalid`, and the model reads the bound", () => {
  const raw = JSON.stringify({ a: "x".repeat(4_993) })

  test("a call", async () => {
    const started = await startChat(saying(calling(fromText(raw))), { maxToolArgumentCharacters: 5_000 })
    const { thread } = await started.chat.send("hi").result()
    expect(thread.messages[2]).toMatchObject({
      outcome: "invalid",
      content:
        '{"error":"invalid_arguments: the arguments have 5001 characters, and at most 5000 are allowed; send less, in several calls if need be"}'
    })
    expect(JSON.stringify(thread).length).toBeLessThan(2_000)
    expect(started.ran()).toBe(0)
    await goesOn(started)
  })

  test("exactly so many are allowed, and 1,000,000 without the option", async () => {
    const exact = JSON.stringify({ a: "x".repeat(4_992) })
    const bounded = await startChat(saying(calling(fromText(exact))), { maxToolArgumentCharacters: 5_000 })
    expect((await bounded.chat.send("hi").result()).thread.messages[2]).toMatchObject({ outcome: "completed" })
    const huge = JSON.stringify({ a: "x".repeat(999_993) })
    const free = await startChat(saying(calling(fromText(huge))))
    expect((await free.chat.send("hi").result()).thread.messages[2]).toMatchObject({ outcome: "invalid" })
  })

  const large = { a: "x".repeat(6_000) }
  test.each([
    ["arguments", { arguments: large }, "the arguments have more than 5000 characters"],
    [
      "arguments of many values",
      { arguments: { a: Array.from({ length: 3_000 }, () => 7) } },
      "the arguments have more than 5000 characters"
    ],
    ["bytes", { arguments: { a: new Uint8Array(6_000) } }, "the arguments have more than 5000 characters"],
    ["metadata", { metadata: large }, "the metadata of the call has more than 5000 characters"]
  ])("a call with too large %s whose text is short", async (_, more, says) => {
    const started = await startChat(saying(calling(more)), { maxToolArgumentCharacters: 5_000 })
    const { thread } = await started.chat.send("hi").result()
    expect(thread.messages[2]).toMatchObject({ outcome: "invalid", content: expect.stringContaining(says) })
    expect(JSON.stringify(thread).length).toBeLessThan(5_000)
    expect(started.ran()).toBe(0)
    await goesOn(started)
  })

  test("a call whose name is too large is `not_found`, and the beginning of the name is kept", async () => {
    const started = await startChat(saying(calling({ name: "x".repeat(6_000), metadata: large })))
    const { thread } = await started.chat.send("hi").result()
    const name = `${"x".repeat(1_000)}…`
    expect(thread.messages[1]).toMatchObject({
      toolCalls: [{ name, arguments: null, problem: expect.stringContaining("the name has 6000 characters") }]
    })
    expect(thread.messages[2]).toMatchObject({ outcome: "not_found" })
    expect(JSON.stringify(thread).length).toBeLessThan(5_000)
    await goesOn(started)
  })

  test("COLL3 a call that its adapter never completed is bounded too", () => {
    for (const [text, says] of [
      [raw, "5001 characters"],
      [nested(101), "nested deeper"]
    ] as const) {
      const collector = new StreamCollector(undefined, 5_000)
      collector.apply({ type: "tool_call_started", id: "c0", name: "t" })
      collector.apply({ type: "tool_call_delta", id: "c0", argumentsDelta: text })
      expect(collector.toResponse().toolCalls).toMatchObject([
        { arguments: null, problem: expect.stringContaining(says) }
      ])
    }
  })
})

describe("ASRC6 a message that cannot be stored ends its request with a typed error, and every later turn is stored", () => {
  const strange: ReadonlyArray<readonly [name: string, event: AdapterEvent]> = [
    ["message metadata with a function", finish("stop", { message: { ...message, metadata: { f: () => 1 } } })],
    ["message metadata with a cycle", finish("stop", { message: { ...message, metadata: cycle } })],
    ["reasoning nested 101 deep", finish("stop", { metadata: { reasoning: parseArguments(nested(101)) } })],
    ["a finish reason that is a function", finish((() => "stop") as unknown as string)],
    ["a finish reason that is an object", finish({} as unknown as string)],
    ["reasoning at its start", { type: "message_started", message, metadata: { reasoning: [() => 1] } }]
  ]

  test.each(strange)("%s", async (_, event) => {
    const said: AdapterEvent = { type: "text_delta", id: null, delta: "said" }
    const started = await startChat(saying([said, event]))
    const result = await started.chat.send("hi").result()
    expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "malformed_response" } } })
    expect(result.metadata["error"]).toBeInstanceOf(AdapterError)
    expect(result.finalResponse).toMatchObject({ outputText: "said" })
    await goesOn(started)
  })
})

describe("STORABLE1 a message of a user that cannot be stored is refused at the door, and nothing is lost", () => {
  const parts = (part: object): UserInput => [{ type: "text", text: "hi", ...part }] as unknown as UserInput
  const strange: ReadonlyArray<readonly [name: string, input: UserInput]> = [
    ["metadata with a function", { role: "user", content: "hi", metadata: { f: () => 1 } }],
    ["metadata with a cycle", { role: "user", content: "hi", metadata: cycle }],
    ["metadata with a map", { role: "user", content: "hi", metadata: { m: new Map() } }],
    ["metadata nested 101 deep", { role: "user", content: "hi", metadata: parseArguments(nested(101)) ?? {} }],
    ["a part with a function", parts({ metadata: { f: () => 1 } })],
    ["a part with a cycle", parts({ metadata: cycle })]
  ]

  test.each(strange)("%s", async (_, input) => {
    const started = await startChat(saying())
    expect(() => started.chat.send(input)).toThrow(ValidationError)
    await goesOn(started)
  })
})

describe("UNSAVABLE1 a step that cannot be stored is dropped, and the next turn is stored", () => {
  /** What nothing checks: an observer that changes the event it is shown. */
  const spoiling = (): Pick<TroupeOptions, "onEvent"> => {
    let isFirst = true
    return {
      onEvent: (event) => {
        if (event.type !== "message_completed" || !isFirst) return
        isFirst = false
        Object.assign(event.message, { metadata: { f: () => 1 } })
      }
    }
  }
  const fresh = (finishReason = "stop"): AdapterEvent => finish(finishReason, { message: { ...message } })

  test("a reply", async () => {
    const said: AdapterEvent = { type: "text_delta", id: null, delta: "spoilt" }
    const started = await startChat(saying([said, fresh()]), spoiling())
    const result = await started.chat.send("hi").result()
    expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "store_failed" } } })
    expect(result.thread.messages.map(({ content }) => content)).toEqual(["hi"])
    expect(await started.chat.retry().result()).toMatchObject({ haltedReason: "completed" })
    await goesOn(started)
  })

  test("a reply with calls, and what came of them", async () => {
    const call = calling({})[1] as AdapterEvent
    const started = await startChat(saying([call, fresh("tool_calls")]), spoiling())
    const result = await started.chat.send("hi").result()
    expect(result).toMatchObject({ haltedReason: "error", pendingToolCalls: [] })
    expect(result.thread.messages).toHaveLength(1)
    await goesOn(started)
  })

  test("UNSAVABLE2 where the store failed for another reason nothing is dropped", async () => {
    const store = textStore()
    const { save } = store
    let fails = false
    const failing: RecordStore = {
      ...store,
      save: (record) => {
        if (fails) throw new Error("disk full")
        return save(record)
      }
    }
    const { troupe } = await check.troupe({
      adapter: saying(),
      store: failing,
      onEvent: ({ type }) => {
        if (type === "message_completed") fails = true
      }
    })
    const chat = await troupe.chat("a")
    const result = await chat.send("hi").result()
    expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { reason: "store_failed" } } })
    expect(result.thread.messages.map(({ content }) => content)).toEqual(["hi", "ok"])
  })
})
