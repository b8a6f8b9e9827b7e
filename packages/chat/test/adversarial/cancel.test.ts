import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import * as Engine from "../../src/options/Engine.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { make } from "../../src/tool/Tool.ts"
import { runToolCalls, streamToolCalls } from "../../src/session/ToolRunner.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf } from "../double/processes.ts"
import { calls, callThenAnswer, echo, handling, hi, only, readAll, says, tagsOf } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

/** The ids of calls in a thread that no tool message answers. */
const unanswered = (messages: ReadonlyArray<Message>) => {
  const answered = new Set(messages.map((message) => (message.role === "tool" ? message.toolCallId : undefined)))
  return messages.flatMap((message) =>
    message.role === "assistant" ? (message.toolCalls ?? []).filter((call) => !answered.has(call.id)) : []
  )
}

/** A store whose saves wait until they are let through. */
const gatedStore = () => {
  const waiting: Array<() => void> = []
  const saved: Array<Conversation> = []
  const store: RecordStore = {
    load: () => undefined,
    save: (record) =>
      new Promise((resolve) =>
        waiting.push(() => {
          saved.push(record)
          resolve()
        })
      ),
    delete: () => {}
  }
  return { store, saved, waiting, pass: () => waiting.shift()?.() }
}

describe("a cancel", () => {
  test("in phase A ends the chat at once with what was said, and releases the request", async () => {
    const adapter = handAdapter()
    const { signal, abort } = check.signal()
    const stream = await Chat.stream(Engine.make({ adapter }), hi, { signal })
    const first = stream.next()
    adapter.streams[0]?.text("par")
    await first
    const rest = readAll(stream)
    abort()
    const { result } = only(await rest, "chat_completed")
    expect(result.haltedReason).toBe("cancelled")
    expect(result.thread.messages.at(-1)).toMatchObject({ content: "par", metadata: { cancelled: true } })
    expect(adapter.streams[0]?.returns).toBe(1)
  })

  test("before the first event leaves no assistant message", async () => {
    const adapter = handAdapter()
    const spied = check.signal()
    const stream = await Chat.stream(Engine.make({ adapter }), hi, { signal: spied.signal })
    spied.abort()
    const { result } = only(await readAll(stream), "chat_completed")
    expect(result).toMatchObject({ haltedReason: "cancelled", thread: { messages: hi } })
  })

  test("while the request opens ends the chat, and what opens later is released", async () => {
    const opening = Promise.withResolvers<Awaited<ReturnType<Adapter["stream"]>>>()
    const spied = check.signal()
    let seen: AbortSignal | undefined
    const adapter: Adapter = {
      name: "slow",
      stream: (_request, { signal }) => {
        seen = signal
        return opening.promise
      }
    }
    const running = Chat.run(Engine.make({ adapter }), hi, { signal: spied.signal, drainMs: 1 })
    await until(() => seen !== undefined)
    spied.abort()
    expect((await running).haltedReason).toBe("cancelled")
    expect(seen?.aborted).toBe(true)
    let returns = 0
    const release = async () => ({ done: true as const, value: void returns++ })
    opening.resolve({ [Symbol.asyncIterator]: () => ({ next: release, return: release }) })
    await hop()
    expect(returns).toBe(1)
  })

  const forms = [Chat.stream, Chat.streamStep, Chat.streamGenerate]
  test.each(forms.map((form) => [form.name, form] as const))(
    "from within the adapter that opens the request ends it too: %s",
    async (_name, form) => {
      const { signal, abort } = check.signal()
      const hand = handAdapter()
      const adapter: Adapter = { name: "aborting", stream: (...args) => (abort(), hand.stream(...args)) }
      const tags = tagsOf(await readAll(await form(Engine.make({ adapter }), hi, { signal })))
      expect(tags).toHaveLength(tags.includes("chat_completed") ? 2 : 1)
      await until(() => hand.streams[0]?.returns === 1)
    }
  )

  test("before the chat began asks the model nothing", async () => {
    const adapter = check.fake({ script: says("a") })
    const signal = AbortSignal.abort()
    const result = await Chat.run(Engine.make({ adapter }), hi, { signal })
    expect(result).toMatchObject({ haltedReason: "cancelled", steps: [] })
    expect(adapter.requests).toEqual([])
    await expect(Chat.step(Engine.make({ adapter }), hi, { signal })).rejects.toThrow()
    await expect(runToolCalls([{ id: "c0", name: "echo", arguments: {} }], [echo], { signal })).rejects.toThrow()
  })

  test("after the model made its calls, and before they run, answers each of them", async () => {
    for (const mode of ["auto", "manual"] as const) {
      let ran = 0
      const tools = [handling("t", () => ok(++ran)), make({ name: "m", manual: true })]
      const spied = check.signal()
      const adapter = check.fake({ scripts: [calls("t", "m"), says("never")] })
      const stream = await Chat.stream(Engine.make({ adapter, tools }), hi, { signal: spied.signal, mode })
      for await (const event of stream) {
        if (event.type === "message_completed") spied.abort()
        if (event.type !== "chat_completed") continue
        expect(event.result.haltedReason).toBe("cancelled")
        expect(unanswered(event.result.thread.messages)).toEqual([])
        expect(event.result.pendingToolCalls).toEqual([])
      }
      expect([ran, adapter.requests.length]).toEqual([0, 1])
    }
  })

  test("in phase B aborts the running calls, starts none that waits, and keeps what was finished", async () => {
    const ran: Array<string> = []
    const spied = check.signal()
    const tools = [
      handling("quick", () => ok(ran.push("quick"))),
      handling("slow", (_args, { signal }) => {
        ran.push("slow")
        return new Promise((resolve) => signal.addEventListener("abort", () => resolve(ok("stopped"))))
      }),
      handling("later", () => ok(ran.push("later")))
    ]
    const adapter = check.fake({ scripts: [calls("quick", "slow", "later"), says("never")] })
    const stream = await Chat.stream(Engine.make({ adapter, tools }), hi, { signal: spied.signal, maxConcurrency: 1 })
    const running = readAll(stream)
    await until(() => ran.includes("slow"))
    spied.abort()
    const events = await running
    const { result } = only(events, "chat_completed")
    expect(result.haltedReason).toBe("cancelled")
    expect(ran).toEqual(["quick", "slow"])
    expect(result.thread.messages.slice(-3).map(({ content }) => content)).toEqual([
      "1",
      "stopped",
      expect.stringContaining("cancelled")
    ])
    expect(unanswered(result.thread.messages)).toEqual([])
    expect(tagsOf(events).filter((tag) => tag === "tool_execution_completed")).toHaveLength(3)
  })

  test("in phase B keeps the manual calls of a mixed turn pending", async () => {
    const spied = check.signal()
    const started = Promise.withResolvers<void>()
    const tools = [
      handling("slow", () => {
        started.resolve()
        return new Promise(() => {})
      }),
      make({ name: "m", manual: true })
    ]
    const adapter = check.fake({ scripts: [calls("slow", "m")] })
    const running = Chat.run(Engine.make({ adapter, tools }), hi, { signal: spied.signal, drainMs: 0 })
    await started.promise
    spied.abort()
    const result = await running
    expect(result.haltedReason).toBe("cancelled")
    expect(result.pendingToolCalls.map(({ id }) => id)).toEqual(["c1"])
    expect(unanswered(result.thread.messages).map(({ id }) => id)).toEqual(["c1"])
  })

  test("between two steps asks the model no more", async () => {
    const spied = check.signal()
    const adapter = check.fake({ scripts: callThenAnswer })
    const stream = await Chat.stream(Engine.make({ adapter, tools: [echo] }), hi, { signal: spied.signal })
    for await (const event of stream) {
      if (event.type === "step_completed") spied.abort()
      if (event.type === "chat_completed")
        expect(event.result).toMatchObject({ haltedReason: "cancelled", steps: [{}] })
    }
    expect(adapter.requests).toHaveLength(1)
  })

  test("twice is once", async () => {
    const adapter = check.fake({ script: [{ text: "a" }, { hang: true }] })
    const { troupe, system } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => chat.getSnapshot()?.context.partial.text === "a")
    await Promise.all([chat.cancel(), chat.cancel()])
    await chat.cancel()
    const events = await readAll(turn)
    expect(tagsOf(events).filter((tag) => tag === "chat_completed")).toHaveLength(1)
    expect(processesOf(system, "AdapterStream")).toEqual([])
    expect(adapter.released).toBe(1)
  })

  test("of a chat at rest does nothing", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says("a") }) })
    const chat = await troupe.chat("c")
    await chat.cancel()
    expect((await chat.send("go").result()).haltedReason).toBe("completed")
    await chat.cancel()
    expect((await chat.send("again").result()).haltedReason).toBe("completed")
  })

  test("ends the running turn only: turns sent before and after it still run, in order", async () => {
    const adapter = check.fake({
      respond: (request) => (request.messages.at(-1)?.content === "hang" ? [{ hang: true }] : says("fine"))
    })
    const { troupe } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const turns = [chat.send("one"), chat.send("hang"), chat.send("three")]
    await until(() => adapter.requests.length === 2)
    await chat.cancel()
    const results = await Promise.all(turns.map((turn) => turn.result()))
    expect(results.map((result) => result.haltedReason)).toEqual(["completed", "cancelled", "completed"])
  })

  test("while a slow store keeps the beginning of the turn asks the model nothing, and is kept itself", async () => {
    const { store, saved, waiting, pass } = gatedStore()
    const adapter = check.fake({ script: says("never") })
    const { troupe } = await check.troupe({ adapter, store })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => waiting.length === 1)
    const cancelled = chat.cancel()
    await hop()
    expect(turn.over).toBe(false)
    for (let save = 0; save < 2; save++) {
      await until(() => waiting.length === 1)
      pass()
    }
    await cancelled
    expect((await turn.result()).haltedReason).toBe("cancelled")
    expect(adapter.requests).toEqual([])
    expect(saved.map(({ running, lastHaltedReason }) => [running, lastHaltedReason])).toEqual([
      [true, undefined],
      [false, "cancelled"]
    ])
    expect(saved[1]?.thread.messages).toMatchObject([{ role: "user", content: "go" }])
  })

  test("while a slow store keeps a step is the end after that step", async () => {
    const { store, waiting, pass } = gatedStore()
    const adapter = check.fake({ scripts: callThenAnswer })
    const { troupe } = await check.troupe({ adapter, store, tools: [echo] })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    for (let save = 0; save < 3; save++) {
      await until(() => waiting.length === 1)
      if (save === 2) void chat.cancel()
      await hop()
      pass()
    }
    await until(() => waiting.length === 1)
    pass()
    expect(await turn.result()).toMatchObject({
      haltedReason: "cancelled",
      steps: [{ toolResults: [{ toolCallId: "c0" }] }]
    })
    expect(adapter.requests).toHaveLength(1)
  })

  test("keeps a question that was pending", async () => {
    const asking = handling("ask", () => askUser("which?"))
    const adapter = check.fake({ scripts: [calls("ask"), [{ hang: true }], says("thanks")] })
    const { troupe } = await check.troupe({ adapter, tools: [asking] })
    const chat = await troupe.chat("c")
    expect((await chat.send("go").result()).haltedReason).toBe("ask_user")
    const answer = chat.send("that one")
    await until(() => adapter.requests.length === 2)
    await chat.cancel()
    expect((await answer.result()).haltedReason).toBe("cancelled")
    expect(chat.getSnapshot()?.value).toBe("awaitingUser")
    expect(chat.getSnapshot()?.context.pendingQuestion?.question).toBe("which?")
    expect((await chat.retry().result()).haltedReason).toBe("completed")
    expect(chat.getSnapshot()?.value).toBe("idle")
  })

  test("of a tool batch answers every call", async () => {
    const spied = check.signal()
    const started = Promise.withResolvers<void>()
    const slow = handling("slow", () => {
      started.resolve()
      return new Promise(() => {})
    })
    const toolCalls = ["slow", "slow"].map((name, index) => ({ id: `c${index}`, name, arguments: {} }))
    const options = { signal: spied.signal, drainMs: 0, maxConcurrency: 1 }
    const running = runToolCalls(toolCalls, [slow], options)
    await started.promise
    spied.abort()
    const run = await running
    expect(run.halt).toEqual({ type: "cancelled" })
    expect(run.messages.map(({ toolCallId }) => toolCallId)).toEqual(["c0", "c1"])
    const reading = async () => {
      for await (const _ of streamToolCalls(toolCalls, [slow], options)) throw new Error("ran")
    }
    await expect(reading()).rejects.toThrow("aborted")
  })

  test("leaves no listener on the caller's signal, however the chat ends", async () => {
    const spied = check.signal()
    const { signal } = spied
    const engine = () => Engine.make({ adapter: check.fake({ scripts: callThenAnswer }), tools: [echo] })
    await Chat.run(engine(), hi, { signal })
    await Chat.step(engine(), hi, { signal })
    await expect(Chat.run(Engine.make({ adapter: check.fake({ scripts: [] }) }), hi, { signal })).rejects.toThrow()
    for await (const _ of await Chat.stream(engine(), hi, { signal })) break
    await runToolCalls([{ id: "c0", name: "echo", arguments: {} }], [echo], { signal })
    expect(spied.listeners).toBe(0)
  })
})

describe("a handler that aborts the signal of its run", () => {
  const cases = (["concurrent", "effects", "reference"] as const).flatMap((schedule) =>
    ([1, undefined] as const).map((maxConcurrency) => [schedule, maxConcurrency] as const)
  )
  test.each(cases)("BATCH4 is the last that starts (%s, at most %s at a time)", async (schedule, maxConcurrency) => {
    const given = new AbortController()
    const ran: Array<string> = []
    const aborts = make({
      name: "aborts",
      effect: "read",
      handler: () => {
        ran.push("aborts")
        given.abort()
        return ok("done")
      }
    })
    const reads = make({ name: "reads", effect: "read", handler: () => ok(ran.push("reads")) })
    const writes = make({ name: "writes", handler: () => ok(ran.push("writes")) })
    const adapter = check.fake({ scripts: [calls("aborts", "reads", "writes", "reads"), says("ok")] })
    const result = await Chat.run(Engine.make({ adapter, tools: [aborts, reads, writes] }), hi, {
      signal: given.signal,
      schedule,
      maxConcurrency
    })
    // Under `reference` what writes comes first.
    const before = schedule === "reference" ? ["writes"] : []
    expect(ran).toEqual([...before, "aborts"])
    const outcomes = result.steps[0]?.toolResults.map(({ outcome }) => outcome)
    const writing = schedule === "reference" ? "completed" : "cancelled"
    expect([result.haltedReason, outcomes]).toEqual(["cancelled", ["completed", "cancelled", writing, "cancelled"]])
    expect(adapter.requests).toHaveLength(1)
  })
})
