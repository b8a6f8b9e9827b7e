/** What the world outside does to a chat: callbacks that stop it, stores that are slow, adapters that break their word. */
import { Process, System } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import * as Chat from "../../src/loop/Chat.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { assistant } from "../../src/model/Message.ts"
import { memory, type SavingStore } from "../double/savingStore.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf, processOf } from "../double/processes.ts"
import { calls, echo, handling, hi, says } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

const started: AdapterEvent = { type: "message_started", message: { role: "assistant", content: "" } }

const adapterOf = (events: () => AsyncIterable<AdapterEvent>): Adapter => ({ name: "odd", stream: () => events() })

describe("TROUPE3 `stop` settles, and leaves nothing", () => {
  test("from an observer of a chat", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }) })
    const chat = await troupe.chat("c")
    const stopped = Promise.withResolvers<void>()
    const turn = chat.send("hi")
    chat.subscribe((snapshot) => {
      if (snapshot.value === "idle") stopped.resolve(troupe.stop())
    })
    await turn.result()
    expect(await stopped.promise).toBeUndefined()
  })

  test("from a tool, whose turn ends with it", async () => {
    const stopped = Promise.withResolvers<void>()
    const adapter = check.fake({ script: calls("stop") })
    const tools = [
      handling("stop", () => {
        stopped.resolve(made.troupe.stop())
        return new Promise(() => {})
      })
    ]
    const made = await check.troupe({ adapter, tools })
    const turn = (await made.troupe.chat("c")).send("hi")
    await stopped.promise
    await expect(turn.result()).rejects.toMatchObject({ reason: "chat_stopped" })
  })

  test("called twice at once: both wait for the end", async () => {
    const { troupe, system } = await check.troupe({ adapter: check.fake({ script: says("x") }) })
    await troupe.chat("c")
    const [, second] = [troupe.stop(), troupe.stop()]
    await second
    expect([...System.processes(system)]).toEqual([])
  })
})

describe("STORE1 a slow store", () => {
  test("holds up its own chat only", async () => {
    const inner = memory()
    const slow = Promise.withResolvers<void>()
    const store: RecordStore = {
      ...inner,
      save: (record) => (record.id === "slow" ? slow.promise : inner.save(record))
    }
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
    const waiting = (await troupe.chat("slow")).send("hi")
    const other = await (await troupe.chat("other")).send("hi").result()
    expect(other.haltedReason).toBe("completed")
    expect(waiting.over).toBe(false)
    slow.resolve()
    expect((await waiting.result()).haltedReason).toBe("completed")
  })

  test.each([1, 2])("TROUPE4 holds up its own chat only when it is loaded for the %i. time", async (slowLoad) => {
    const inner = memory()
    const slow = Promise.withResolvers<void>()
    let loads = 0
    const store: RecordStore = {
      ...inner,
      load: async (id) => {
        if (id === "slow" && ++loads === slowLoad) await slow.promise
        return inner.load(id)
      }
    }
    const { troupe, system } = await check.troupe({ adapter: check.fake({ respond: () => says("x") }), store })
    const waiting = troupe.chat("slow")
    if (slowLoad === 2) Process.kill((await waiting).pid ?? processOf(system, "Chat slow"))
    await until(() => loads === slowLoad)
    expect((await (await troupe.chat("other")).send("hi").result()).haltedReason).toBe("completed")
    expect(processesOf(system, "Chat slow")).toEqual([])
    slow.resolve()
    expect((await (await waiting).send("hi").result()).haltedReason).toBe("completed")
  })

  test("keeps the records of one chat in order", async () => {
    const kept: Array<number> = []
    const inner = memory()
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const store: RecordStore = {
      ...inner,
      save: async (record: Conversation) => {
        await gates[kept.length]?.promise
        kept.push(record.thread.messages.length)
      }
    }
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
    const turn = (await troupe.chat("c")).send("hi")
    for (const gate of gates) gate.resolve()
    await turn.result()
    expect(kept).toEqual([1, 2])
  })

  test("STORE3 whose save never settles is tried again by the next turn", async () => {
    const inner = memory()
    let saves = 0
    const store: RecordStore = {
      ...inner,
      save: (record) => (++saves === 1 ? new Promise(() => {}) : inner.save(record))
    }
    const { troupe, clock } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
    const chat = await troupe.chat("c")
    const first = chat.send("one")
    await until(() => saves === 1)
    await clock.advance(5_000)
    expect((await first.result()).metadata["error"]).toMatchObject({ reason: "store_failed" })
    expect((await chat.send("two").result()).haltedReason).toBe("completed")
  })

  test("DOOR1 whose save comes back late has the newest record in the end", async () => {
    const inner = memory()
    const late = Promise.withResolvers<void>()
    let saves = 0
    const store: SavingStore = {
      ...inner,
      save: async (record, saving) => {
        if (++saves === 1) await late.promise
        await inner.save(record, saving)
      }
    }
    const { troupe, clock } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
    const chat = await troupe.chat("c")
    const first = chat.send("one")
    await until(() => saves === 1)
    await clock.advance(5_000)
    await first.result()
    await chat.send("two").result()
    late.resolve()
    await hop()
    expect((await inner.load("c"))?.thread).toEqual(chat.thread)
  })

  test("DOOR3 whose save fails after it has stored the record: the turn goes on, and its input is delivered", async () => {
    const inner = memory()
    let saves = 0
    const store: SavingStore = {
      ...inner,
      save: async (record, saving) => {
        await inner.save(record, saving)
        if (++saves === 1) throw new Error("the connection was lost")
      }
    }
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
    const chat = await troupe.chat("c")
    const turn = chat.send("one")
    expect((await turn.result()).haltedReason).toBe("completed")
    expect(await turn.receipt).toEqual({ status: "delivered" })
    expect((await inner.load("c"))?.thread).toEqual(chat.thread)
    expect((await inner.history("c")).map(({ messages }) => messages.length)).toEqual([1, 1])
  })

  test("PLAIN2 whose load comes back late is not asked to forget what the chat has saved since", async () => {
    const kept = new Map<string, Conversation>()
    const late = Promise.withResolvers<void>()
    const lengths: Array<number> = []
    let loads = 0
    const store: RecordStore = {
      load: async (id) => {
        const record = kept.get(id)
        if (++loads === 1) await late.promise
        return record
      },
      save: (record) => {
        kept.set(record.id, record)
        lengths.push(record.thread.messages.length)
      },
      delete: (id) => void kept.delete(id)
    }
    const { troupe, clock } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
    const unanswered = troupe.chat("c").catch(() => undefined)
    await until(() => loads === 1)
    await clock.advance(5_000)
    await unanswered
    const chat = await troupe.chat("c")
    await chat.send("one").result()
    late.resolve()
    await hop()
    await chat.send("two").result()
    expect(lengths).toEqual(lengths.toSorted((one, other) => one - other))
    expect(kept.get("c")?.thread).toEqual(chat.thread)
  })

  test("STORE5 REF4 whose process dies over a save has the input of it once, and its sender gets the outcome", async () => {
    const inner = memory()
    const slow = Promise.withResolvers<void>()
    let saves = 0
    const store: RecordStore = {
      ...inner,
      save: async (record) => {
        if (++saves === 1) await slow.promise
        await inner.save(record)
      }
    }
    const { troupe, system } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
    const chat = await troupe.chat("c")
    const turn = chat.send("hi")
    await until(() => saves === 1)
    Process.kill(processOf(system, "Store"))
    await hop()
    slow.resolve()
    await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
    expect(await turn.receipt).toEqual({ status: "delivered" })
    expect(chat.thread.messages).toMatchObject([{ role: "user", content: "hi" }])
    expect((await chat.retry().result()).haltedReason).toBe("completed")
  })

  test("that never answers is not waited for by a cancel, once the drain deadline passed", async () => {
    const store: RecordStore = { ...memory(), save: () => new Promise(() => {}) }
    const { troupe, clock } = await check.troupe({ adapter: check.fake({ script: says("x") }), store, drainMs: 10 })
    const chat = await troupe.chat("c")
    const turn = chat.send("hi", { id: "hi" })
    await until(() => chat.getSnapshot()?.context.turn !== undefined)
    const cancelled = chat.cancel()
    await clock.advance(10)
    await clock.advance(10)
    await cancelled
    expect((await turn.result()).haltedReason).toBe("cancelled")
  })

  test.each([
    ["questions", false, "awaitingUser", 3],
    ["calls the caller answers", true, "awaitingTools", 2]
  ])("CHAT2 that fails at the end of a turn loses nothing: %s stay pending", async (_what, manual, state, last) => {
    const inner = memory()
    let saves = 0
    const store: RecordStore = {
      ...inner,
      save: (record) => (++saves === last ? Promise.reject(new Error("disk")) : inner.save(record))
    }
    const tools = [{ ...handling("ask", () => askUser("which?")), manual }]
    const { troupe } = await check.troupe({ adapter: check.fake({ script: calls("ask") }), store, tools })
    const chat = await troupe.chat("c")
    expect((await chat.send("hi").result()).metadata["error"]).toMatchObject({ reason: "store_failed" })
    expect(chat.getSnapshot()?.value).toBe(state)
  })

  test.each([
    ["of another chat", { id: "other" }],
    ["without a thread", { thread: undefined }],
    ["whose thread is none", { thread: { messages: [{ role: "robot", content: "hi" }] } }],
    ["whose usage is none", { usage: 7 }],
    ["whose question is none", { pendingQuestion: "which?" }],
    ["whose inbox is no list", { inbox: {} }],
    ["whose inbox has no inputs", { inbox: [7] }],
    ["whose inbox has what no user says", { inbox: [{ id: "i", whenBusy: "queue", message: { role: "tool" } }] }],
    ["whose inputs are no list", { inputs: 7 }],
    ["whose deadline is no time", { expiresAt: "soon" }],
    [
      "D19 whose call has no result",
      { thread: { messages: [assistant("", [{ id: "c0", name: "t", arguments: {} }])] } }
    ]
  ])("that gives something else than a record is a typed error: %s", async (_what, odd) => {
    const record = { id: "c", thread: { messages: [] }, usage: {}, running: false, pendingToolCalls: [], ...odd }
    const store: RecordStore = { ...memory(), load: () => record as unknown as Conversation }
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }), store })
    await expect(troupe.chat("c")).rejects.toMatchObject({ reason: "invalid_record" })
  })
})

describe("what a chat waits for", () => {
  test("results that were submitted twice are used once", async () => {
    const manual = { ...echo, manual: true }
    const adapter = check.fake({
      respond: ({ messages }) => (messages.at(-1)?.role === "tool" ? says("done") : calls("echo"))
    })
    const { troupe } = await check.troupe({ adapter, tools: [manual] })
    const chat = await troupe.chat("c")
    await chat.send("hi").result()
    const [first, second] = [chat.submitToolResults({ c0: 1 }), chat.submitToolResults({ c0: 2 })]
    expect((await first.result()).haltedReason).toBe("completed")
    await expect(second.result()).rejects.toMatchObject({ reason: "unknown_tool_call_id" })
    expect(chat.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
  })

  test("BATCH4 a question asked before a cancel stays pending, and in the thread", async () => {
    const hung = Promise.withResolvers<void>()
    const tools = [
      handling("ask", () => askUser("which?")),
      handling("hang", (_args, { signal }) => {
        hung.resolve()
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(ok("late")), { once: true }))
      })
    ]
    const { troupe } = await check.troupe({ adapter: check.fake({ script: calls("ask", "hang") }), tools })
    const chat = await troupe.chat("c")
    const turn = chat.send("hi")
    await hung.promise
    await chat.cancel()
    expect(await turn.result()).toMatchObject({ haltedReason: "cancelled", pendingQuestion: { question: "which?" } })
    expect(chat.getSnapshot()?.value).toBe("awaitingUser")
    expect(chat.thread.messages.at(-1)).toMatchObject({ role: "assistant", content: "which?" })
  })
})

describe("ASRC3 an adapter that breaks its word ends the chat with `error`", () => {
  test.each([
    [
      "by throwing what has no text",
      async function* () {
        yield started
        throw Object.create(null)
      }
    ],
    [
      "by answering with nothing",
      () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(undefined as never) }) })
    ],
    [
      "by an event that throws when it is read",
      async function* () {
        yield started
        yield {
          type: "text_delta" as const,
          id: null,
          get delta(): string {
            throw new Error("no")
          }
        }
      }
    ],
    [
      "by stopping in the middle",
      async function* () {
        yield started
        yield { type: "text_delta" as const, id: null, delta: "half" }
      }
    ]
  ])("%s", async (_how, events) => {
    const result = await Chat.run(Engine.make({ adapter: adapterOf(events as () => AsyncIterable<AdapterEvent>) }), hi)
    expect(result).toMatchObject({ haltedReason: "error", metadata: { error: { _tag: "StreamError" } } })
  })

  test("ASRC2 by an event that throws when it is read: its iterator is returned, once", async () => {
    let released = 0
    const events = async function* () {
      try {
        yield started
        yield {
          type: "text_delta" as const,
          id: null,
          get delta(): string {
            throw new Error("no")
          }
        }
      } finally {
        released++
      }
    }
    await Chat.run(Engine.make({ adapter: adapterOf(events) }), hi)
    expect(released).toBe(1)
  })

  test("OUT6 one that is always ready does not hold up the event loop", async () => {
    const events = async function* () {
      yield started
      for (;;) yield { type: "text_delta" as const, id: null, delta: "." }
    }
    const ending = new AbortController()
    setImmediate(() => ending.abort())
    const result = await Chat.run(Engine.make({ adapter: adapterOf(events) }), hi, { signal: ending.signal })
    expect(result.haltedReason).toBe("cancelled")
  })
})

describe("OUT6 events that the reader does not see hold up the event loop no more than others", () => {
  test.each([
    ["unknown ones", { type: "nonsense" }, {}],
    ["filtered ones", { type: "text_delta", id: null, delta: "." }, { emitTextDeltas: false }]
  ])("%s", async (_, event, options) => {
    const ending = new AbortController()
    let count = 0
    const events = async function* () {
      yield started
      while (++count < 2_000_000) yield event as AdapterEvent
    }
    setImmediate(() => ending.abort())
    const engine = Engine.make({ adapter: adapterOf(events) })
    const result = await Chat.run(engine, hi, { ...options, signal: ending.signal })
    expect(result.haltedReason).toBe("cancelled")
    expect(count).toBeLessThan(2_000_000)
  })
})

test("REQ1 an adapter whose answer cannot be looked at has refused the request", async () => {
  const odd = new Proxy(
    {},
    {
      get: () => {
        throw new Error("then")
      }
    }
  )
  const adapter: Adapter = { name: "odd", stream: () => odd as unknown as AsyncIterable<AdapterEvent> }
  await expect(Chat.run(Engine.make({ adapter }), hi)).rejects.toMatchObject({ _tag: "AdapterError" })
})

test("COLL1 a count that is no number costs neither the turn nor the record", async () => {
  const events = async function* () {
    yield started
    yield {
      type: "message_completed",
      message: assistant(""),
      finishReason: "stop",
      usage: { inputTokens: Number.NaN, outputTokens: 2, totalTokens: 1n }
    } as unknown as AdapterEvent
  }
  const store = memory()
  const { troupe } = await check.troupe({ adapter: adapterOf(events), store })
  const chat = await troupe.chat("c")
  expect((await chat.send("hi").result()).haltedReason).toBe("completed")
  expect((await store.load("c"))?.usage).toEqual({ outputTokens: 2 })
})

describe("callbacks that answer with a promise where none is waited for", () => {
  test("TOUT1 an `onToolError` that rejects ends the loop with `tool_error`", async () => {
    const engine = Engine.make({
      adapter: check.fake({ scripts: [calls("bad")] }),
      tools: [handling("bad", () => Promise.reject(new Error("no")))]
    })
    const onToolError = (() => Promise.reject(new Error("policy"))) as unknown as () => "halt"
    expect((await Chat.run(engine, hi, { onToolError })).haltedReason).toBe("tool_error")
  })

  test("an `onEvent` that rejects is thrown at the reader", async () => {
    const engine = Engine.make({ adapter: check.fake({ script: [{ text: "a" }, { hang: true }] }) })
    const onEvent = () => Promise.reject(new Error("observer"))
    await expect(Chat.run(engine, hi, { onEvent })).rejects.toThrow("observer")
  })

  test("a `haltWhen` that is asynchronous is refused", async () => {
    const engine = Engine.make({ adapter: check.fake({ scripts: [calls("echo")] }), tools: [echo] })
    const haltWhen = (() => Promise.resolve(true)) as unknown as () => boolean
    await expect(Chat.run(engine, hi, { haltWhen })).rejects.toThrow("must be synchronous")
  })
})

test("what is no options, and no observer, is refused by a typed error", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ script: says("x") }) })
  const chat = await troupe.chat("c")
  const invalid = expect.objectContaining({ _tag: "ValidationError", reason: "invalid_options" }) as unknown
  for (const wrong of [null, "x", 5, []]) {
    expect(() => chat.send("x", wrong as never)).toThrow(invalid)
    expect(() => chat.attach(wrong as never)).toThrow(invalid)
    expect(() => chat.subscribe(wrong as never)).toThrow(invalid)
  }
  expect(() => chat.subscribe(undefined as never)).toThrow(invalid)
  expect(chat.thread.messages).toEqual([])
})
