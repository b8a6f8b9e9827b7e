import { describe, expect, it } from "vitest"
import { askUser, Chat, Engine, Fake, tool, Troupe, user } from "@troupe/chat"
import { Compaction } from "@troupe/chat/compaction"
import { AdapterError } from "@troupe/chat/errors"
import type { Request } from "@troupe/chat/models"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { Spans } from "../double/spans.ts"

const many = "a few words that fill the request ".repeat(30)

/** An adapter that keeps its requests, and answers those for a summary. */
const recorded = (answer: (request: Request, number: number) => Parameters<typeof Fake.make>[0] | Error) => {
  const requests: Array<Request> = []
  const summaries: Array<Request> = []
  const adapter: ReturnType<typeof Fake.make> = {
    ...Fake.make({ script: [] }),
    stream: (request, options) => {
      const isSummary = JSON.stringify(request.messages).includes("Write the summary.")
      const list = isSummary ? summaries : requests
      list.push(request)
      const given = answer(request, list.length)
      if (given instanceof Error) throw given
      return Fake.make(given).stream(request, options)
    }
  }
  return { adapter, requests, summaries, isSummary: (request: Request) => summaries.includes(request) }
}

const says = (text: string, usage = {}) => ({ script: [{ text }, { usage }, { finish: "stop" as const }] })

describe("the state compacting", () => {
  it("a chat near its bound asks for a summary, stores one entry, and sends the summary in place of the messages", async () => {
    const world = recorded((request) =>
      says(JSON.stringify(request.messages).includes("Write the summary.") ? "They greeted." : many)
    )
    const store = Store.memory()
    const compaction = Compaction.make({ maxTokens: 1_500, strategies: [Compaction.summarise()] })
    const troupe = await Troupe.start({ adapter: world.adapter, store, compaction, instructions: "Be kind." })
    const chat = await troupe.chat("a")
    const seen: Array<string> = []
    for (let turn = 0; turn < 6; turn++) {
      for await (const event of chat.send(`${turn}: ${many}`))
        if (event.type === "thread_compacted") seen.push(event.type)
    }
    expect(world.summaries.length).toBeGreaterThan(0)
    expect(seen).toHaveLength(world.summaries.length)
    const last = world.requests.at(-1)
    expect(last?.messages.slice(0, 2)).toEqual([
      Message.system("Be kind."),
      expect.objectContaining({ role: "user", content: expect.stringContaining("They greeted.") })
    ])
    const record = await store.load("a")
    expect(record?.thread.messages).toHaveLength(12)
    expect(record?.thread.compaction).toMatchObject({
      summary: "They greeted.",
      tokens: { before: expect.any(Number) }
    })
    const named = (await store.history("a")).flatMap(({ entries = [] }) => entries.map(({ type }) => type))
    expect(named.filter((type) => type === "Compacted")).toHaveLength(world.summaries.length)
    await troupe.stop()
  })

  it("COMPACT2: when the summary fails, the turn continues without it, within the bound", async () => {
    const world = recorded((request) =>
      JSON.stringify(request.messages).includes("Write the summary.") ? new AdapterError("invalid_request") : says(many)
    )
    const compaction = Compaction.make({ maxTokens: 1_500, strategies: [Compaction.summarise()] })
    const troupe = await Troupe.start({ adapter: world.adapter, compaction })
    const chat = await troupe.chat("a")
    for (let turn = 0; turn < 6; turn++) {
      expect(await chat.send(`${turn}: ${many}`).result()).toMatchObject({ haltedReason: "completed" })
    }
    expect(world.summaries.length).toBeGreaterThan(0)
    expect(world.requests.at(-1)?.messages.length).toBeLessThan(11)
    await troupe.stop()
  })

  it("a request that the provider refuses as too long is compacted once; when it is refused again, the turn ends with its error", async () => {
    let refusals = 1
    const world = recorded((request) => {
      if (JSON.stringify(request.messages).includes("Write the summary.")) return says("Short.")
      if (refusals-- > 0) return new AdapterError("context_length_exceeded")
      return says("Done.")
    })
    const compaction = Compaction.make({ maxTokens: 100_000, strategies: [Compaction.summarise({ keepTokens: 50 })] })
    const engine = Engine.make({ adapter: world.adapter })
    const thread = [user(many), Message.assistant(many), user("and now?")]
    const result = await Chat.run(engine, thread, { compaction })
    expect(result).toMatchObject({ haltedReason: "completed", thread: { compaction: { summary: "Short.", upTo: 2 } } })
    refusals = 5
    const refused = Chat.run(engine, thread, { compaction })
    await expect(refused).rejects.toMatchObject({ reason: "context_length_exceeded" })
    expect(world.requests).toHaveLength(4)
  })

  it("COMPACT1: the usage of the summary is in the usage and in the budget of the turn", async () => {
    const world = recorded((request) =>
      JSON.stringify(request.messages).includes("Write the summary.")
        ? says("Short.", { inputTokens: 900, outputTokens: 100 })
        : {
            script: [
              { toolCall: { id: `c${request.messages.length}`, name: "look", arguments: {} } },
              { usage: { inputTokens: 1, outputTokens: 1 } },
              { finish: "tool_calls" }
            ]
          }
    )
    const look = tool({ name: "look", effect: "read", execute: () => many })
    const compaction = Compaction.make({ maxTokens: 1_000, strategies: [Compaction.summarise()] })
    const engine = Engine.make({ adapter: world.adapter, tools: [look] })
    const result = await Chat.run(engine, [user("go")], { compaction, budget: { tokens: 1_000 }, maxTurns: 20 })
    expect(result).toMatchObject({ haltedReason: "budget_tokens" })
    expect(world.summaries).toHaveLength(1)
  })

  it("COMPACT1: the request for a summary has the retries, the price and the span of a request", async () => {
    const spans = new Spans()
    const world = recorded((request, number) => {
      const isSummary = JSON.stringify(request.messages).includes("Write the summary.")
      if (!isSummary) return says("Done.", { inputTokens: 10 })
      return number === 1 ? new AdapterError("rate_limited") : says("Short.", { inputTokens: 900 })
    })
    const compaction = Compaction.make({ maxTokens: 1_500, strategies: [Compaction.summarise()] })
    const engine = Engine.make({ adapter: world.adapter, prices: (_, { inputTokens = 0 }) => inputTokens })
    const thread = [user(many.repeat(3)), Message.assistant(many.repeat(3)), user("and now?")]
    const retry = { baseDelayMs: 1, jitterMs: 0 }
    const result = await Chat.run(engine, thread, { compaction, retry, tracing: { tracer: spans.tracer } })
    expect(result).toMatchObject({ haltedReason: "completed", thread: { compaction: { summary: "Short." } } })
    expect([world.summaries.length, world.requests.length]).toEqual([2, 1])
    expect(result.usage).toMatchObject({ inputTokens: 910, totalCost: 910 })
    expect(spans.tree().filter((line) => line.includes("chat:"))).toEqual([
      "  chat: failed",
      "  chat: ok",
      "    chat: ok"
    ])
  })

  it("COMPACT1, COMPACT2: a summary that is silent for the deadline of a stream fails, and the turn goes on without it", async () => {
    const world = recorded((request) =>
      JSON.stringify(request.messages).includes("Write the summary.")
        ? { script: [{ text: "a" }, { hang: true }] }
        : says("Done.")
    )
    const compaction = Compaction.make({ maxTokens: 1_500, strategies: [Compaction.summarise()] })
    const thread = [user(many.repeat(3)), Message.assistant(many.repeat(3)), user("and now?")]
    const result = await Chat.run(Engine.make({ adapter: world.adapter }), thread, {
      compaction,
      streamIdleTimeoutMs: 50,
      retry: false
    })
    expect(result).toMatchObject({ haltedReason: "completed" })
    expect(result.thread.compaction?.summary).toBeUndefined()
    expect([world.summaries.length, world.requests.length]).toEqual([1, 1])
  })

  it("a request that no compaction makes small enough ends the turn with context_too_large, and nothing is sent", async () => {
    const world = recorded(() => says("Never."))
    const troupe = await Troupe.start({ adapter: world.adapter, compaction: Compaction.make({ maxTokens: 500 }) })
    const result = await (await troupe.chat("a")).send(many.repeat(20)).result()
    expect(result).toMatchObject({
      haltedReason: "error",
      metadata: { error: { reason: "context_too_large", metadata: { part: "input" } } }
    })
    expect(world.requests).toEqual([])
    await troupe.stop()
  })

  it("a cancel during the summary ends the turn as cancelled, and the thread stays as it was", async () => {
    const world = recorded((request) =>
      JSON.stringify(request.messages).includes("Write the summary.")
        ? { script: [{ text: "a" }, { hang: true }] }
        : says(many)
    )
    const compaction = Compaction.make({ maxTokens: 1_500, strategies: [Compaction.summarise()] })
    const troupe = await Troupe.start({ adapter: world.adapter, compaction })
    const chat = await troupe.chat("a")
    let cancelled: string | undefined
    for (let turn = 0; turn < 6 && cancelled === undefined; turn++) {
      const sent = chat.send(`${turn}: ${many}`)
      const isOver = sent.result().then(({ haltedReason }) => haltedReason)
      while (
        world.summaries.length === 0 &&
        (await Promise.race([isOver, new Promise((next) => setImmediate(next))])) === undefined
      );
      if (world.summaries.length > 0) {
        await chat.cancel()
        cancelled = await isOver
      }
    }
    expect(cancelled).toBe("cancelled")
    expect(chat.getSnapshot()?.context.thread.compaction).toBeUndefined()
    await troupe.stop()
  })

  it("a turn after one that was cancelled during its summary sends its own request", async () => {
    let refusals = 0
    const world = recorded((request, number) => {
      if (JSON.stringify(request.messages).includes("Write the summary."))
        return number === 1 ? { script: [{ text: "a" }, { hang: true }] } : says("Short.")
      if (refusals-- > 0) return new AdapterError("context_length_exceeded")
      return says("Done.")
    })
    const compaction = Compaction.make({ maxTokens: 100_000, strategies: [Compaction.summarise({ keepTokens: 50 })] })
    const troupe = await Troupe.start({ adapter: world.adapter, compaction })
    const chat = await troupe.chat("a")
    await chat.send(many).result()
    refusals = 1
    const sent = chat.send("and now?")
    while (world.summaries.length === 0) await new Promise((next) => setImmediate(next))
    await chat.cancel()
    expect(await sent.result()).toMatchObject({ haltedReason: "cancelled" })
    expect(await chat.send("go on").result()).toMatchObject({ haltedReason: "completed" })
    expect(world.summaries).toHaveLength(1)
    expect(world.requests.at(-1)?.messages.at(-1)).toMatchObject({ content: "go on" })
    await troupe.stop()
  })

  it("a rewind to before the entry undoes it, and a fork keeps it", async () => {
    const world = recorded((request) =>
      says(JSON.stringify(request.messages).includes("Write the summary.") ? "Short." : many)
    )
    const store = Store.memory()
    const compaction = Compaction.make({ maxTokens: 1_500, strategies: [Compaction.summarise()] })
    const troupe = await Troupe.start({ adapter: world.adapter, store, compaction })
    const chat = await troupe.chat("a")
    for (let turn = 0; turn < 4; turn++) await chat.send(`${turn}: ${many}`).result()
    const history = await store.history("a")
    const at = history.find(({ entries = [] }) => entries.some(({ type }) => type === "Compacted"))?.seq ?? 0
    expect(at).toBeGreaterThan(1)
    await troupe.fork("a", { id: "b" })
    expect((await store.load("b"))?.thread.compaction?.summary).toBe("Short.")
    await troupe.rewind("a", at - 1)
    expect((await store.load("a"))?.thread.compaction).toBeUndefined()
    await troupe.stop()
  })
})

describe("compact", () => {
  const started = async (options: Partial<Parameters<typeof Troupe.start>[0]> = {}) => {
    const world = recorded((request) =>
      JSON.stringify(request.messages).includes("Write the summary.")
        ? says("They talked.", { inputTokens: 7 })
        : says(many)
    )
    const store = Store.memory()
    const compaction = Compaction.make({ maxTokens: 100_000, strategies: [Compaction.summarise()] })
    const troupe = await Troupe.start({ adapter: world.adapter, store, compaction, ...options })
    return { ...world, store, troupe, chat: await troupe.chat("a") }
  }

  it("COMPACT3: far below the bound it stores one compaction behind the running turn, and counts its usage", async () => {
    const { chat, store, troupe, summaries, requests } = await started()
    for (let turn = 0; turn < 4; turn++) await chat.send(`${turn}: ${many}`).result()
    const running = chat.send(`running: ${many}`)
    const events: Array<string> = []
    const turn = chat.compact()
    for await (const event of turn) events.push(event.type)
    expect((await running.result()).haltedReason).toBe("completed")
    expect(await turn.result()).toMatchObject({ haltedReason: "completed", metadata: { compacted: true }, steps: [] })
    expect(events).toContain("thread_compacted")
    expect(summaries).toHaveLength(1)
    expect(requests).toHaveLength(5)
    const record = await store.load("a")
    expect(record?.thread.messages).toHaveLength(10)
    expect(record?.thread.compaction).toMatchObject({ summary: "They talked." })
    expect(record?.usage.inputTokens).toBe(7)
    expect(record?.running).toBe(false)
    const named = (await store.history("a")).flatMap(({ entries = [] }) => entries.map(({ type }) => type))
    expect(named.filter((type) => type === "Compacted")).toHaveLength(1)
    await chat.send("And now?").result()
    expect(JSON.stringify(requests.at(-1)?.messages)).toContain("They talked.")
    await troupe.stop()
  })

  it("COMPACT3: an input that would steer begins its own turn, a retry afterwards answers the last question", async () => {
    const { chat, troupe } = await started()
    for (let turn = 0; turn < 3; turn++) await chat.send(`${turn}: ${many}`).result()
    const compacting = chat.compact()
    const steering = chat.send("Meanwhile", { whenBusy: "steer" })
    expect((await compacting.result()).metadata["compacted"]).toBe(true)
    expect((await steering.result()).steps).toHaveLength(1)
    await chat.compact().result()
    await chat.retry().result()
    expect(chat.thread.messages).toHaveLength(8)
    await troupe.stop()
  })

  it("COMPACT3: a chat that waits refuses it, and one without the option says what is missing", async () => {
    const ask = tool({ name: "ask", execute: () => askUser("Which?") })
    const calls = {
      script: [{ toolCall: { id: "c1", name: "ask", arguments: {} } }, { finish: "tool_calls" as const }]
    }
    const { chat, troupe } = await started({ adapter: Fake.make(calls), tools: [ask] })
    const asking = chat.send("Ask me")
    const queued = chat.compact()
    expect((await asking.result()).haltedReason).toBe("ask_user")
    await expect(queued.result()).rejects.toMatchObject({ reason: "invalid_status_for_operation" })
    await expect(chat.compact().result()).rejects.toMatchObject({ reason: "invalid_status_for_operation" })
    expect(chat.getSnapshot()?.context.pendingQuestion?.question).toBe("Which?")
    await troupe.stop()
    const bare = await Troupe.start({ adapter: Fake.make(calls) })
    const other = await bare.chat("b")
    await expect(other.compact().result()).rejects.toThrow("start the Troupe with compaction")
    await bare.stop()
  })

  it("COMPACT3: a program that ends while the summary streams has interrupted no reply", async () => {
    const { chat, troupe, store } = await started()
    for (let turn = 0; turn < 3; turn++) await chat.send(`${turn}: ${many}`).result()
    await troupe.stop()
    const adapter = Fake.make({ script: [{ text: "They" }, { hang: true }] })
    const other = await Troupe.start({ adapter, store, compaction: Compaction.make({ maxTokens: 100_000 }) })
    const there = await other.chat("a")
    const turn = there.compact()
    await expect.poll(() => there.getSnapshot()?.context.phase).toBe("compacting")
    const record = await store.load("a")
    expect([record?.running, record?.thread.messages.length]).toEqual([false, 6])
    await there.cancel()
    expect((await turn.result()).haltedReason).toBe("cancelled")
    await other.stop()
  })

  it("COMPACT3: a cancel ends it, and the thread stays as it was", async () => {
    const { chat, troupe, store } = await started()
    for (let turn = 0; turn < 3; turn++) await chat.send(`${turn}: ${many}`).result()
    const turn = chat.compact()
    await chat.cancel()
    expect((await turn.result()).haltedReason).toBe("cancelled")
    expect((await store.load("a"))?.thread.compaction).toBeUndefined()
    expect((await chat.send("Go on").result()).haltedReason).toBe("completed")
    await troupe.stop()
  })
})
