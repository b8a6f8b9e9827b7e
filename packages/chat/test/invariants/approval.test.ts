import { describe, expect, test } from "vitest"
import type { Decision } from "../../src/record/Approval.ts"
import { ValidationError } from "../../src/errors/ChatError.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { decide } from "../../src/step/openCalls.ts"
import { type ToolMessage } from "../../src/model/messageShapes.ts"
import { assistant } from "../../src/model/Message.ts"
import { make } from "../../src/tool/Tool.ts"
import { diskStore, type DiskStore } from "../double/crashing.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, readAll, says, tagsOf } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

const results = ({ thread }: Pick<LocalChatRef, "thread">): ReadonlyArray<string> =>
  thread.messages
    .filter((message): message is ToolMessage => message.role === "tool")
    .map(({ toolCallId, outcome }) => `${toolCallId} ${outcome}`)

/** A tool that notes its arguments, and one whose calls are let through at once. */
const tools = () => {
  const ran: Array<unknown> = []
  const pay = make({
    name: "pay",
    handler: (args) => {
      ran.push(args)
      return ok("paid")
    }
  })
  const look = make({ name: "look", effect: "read", handler: () => ok("seen") })
  const ask = make({ name: "ask", handler: () => askUser("which?") })
  const hand = make({ name: "hand", manual: true })
  return { ran, all: [pay, look, ask, hand] }
}

const permissions: TroupeOptions["permissions"] = {
  ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow")
}

/** A chat whose calls have come to wait. */
const waiting = async (
  names: ReadonlyArray<string | readonly [string, Record<string, unknown>]>,
  more: Partial<TroupeOptions> & { readonly after?: ReadonlyArray<ReturnType<typeof says>> } = {}
) => {
  const { after = [says("done")], ...options } = more
  const { ran, all } = tools()
  const store = diskStore()
  const adapter = check.fake({ scripts: [calls(...names), ...after] })
  const { troupe, clock } = await check.troupe({ adapter, tools: all, store, permissions, ...options })
  const chat = await troupe.chat("c")
  const result = await chat.send("go").result()
  return { chat, result, ran, store, adapter, clock, troupe, all }
}

/** Another program over the same store. */
const elsewhere = async (
  {
    store,
    all,
    troupe
  }: {
    readonly store: DiskStore
    readonly all: TroupeOptions["tools"]
    readonly troupe: { readonly stop: () => Promise<void> }
  },
  more: Partial<TroupeOptions> = {}
) => {
  const next = store.leave()
  await troupe.stop()
  const adapter = check.fake({ scripts: [says("done"), says("more")] })
  const started = await check.troupe({ adapter, tools: all ?? [], store: next, permissions, ...more })
  return { ...started, adapter, store: next, chat: await started.troupe.chat("c") }
}

const allow: Decision = { type: "allow" }

describe("a chat whose calls wait for a decision", () => {
  test("CHAT13 the others run, the turn ends with `awaiting_approval`, and the chat is at rest", async () => {
    const { chat, result, ran } = await waiting(["look", "pay", "look"])
    expect(result).toMatchObject({
      haltedReason: "awaiting_approval",
      pendingApprovals: [{ toolCall: { id: "c1", name: "pay" }, kind: "permission", askedAt: 0 }],
      steps: [{ done: true, pendingApprovals: [{ toolCall: { id: "c1" } }] }]
    })
    expect(results(result)).toEqual(["c0 completed", "c2 completed"])
    expect(chat.getSnapshot()?.value).toBe("awaitingApproval")
    expect(chat.getSnapshot()?.context.pendingApprovals).toEqual(result.pendingApprovals)
    expect(ran).toEqual([])
  })

  test("CHAT13 allowed: it runs without a request, its result stands in call order, and the model goes on", async () => {
    const { chat, ran, adapter } = await waiting(["look", "pay", "look"])
    const turn = chat.approve("c1", allow)
    const events = await readAll(turn)
    expect(tagsOf(events).slice(0, 4)).toEqual([
      "tool_execution_started",
      "tool_execution_completed",
      "tool_result_encoded",
      "step_completed"
    ])
    expect(results(chat)).toEqual(["c0 completed", "c1 completed", "c2 completed"])
    expect(ran).toEqual([{}])
    expect(adapter.requests).toHaveLength(2)
    expect((await turn.result()).haltedReason).toBe("completed")
  })

  test("allowed with other arguments: it runs with those, once they fit; the thread's call stays as the model wrote it", async () => {
    const { chat, ran } = await waiting([["pay", { amount: 1 }]])
    const result = await chat.approve("c0", { type: "allow", arguments: { amount: 2 } }).result()
    expect(ran).toEqual([{ amount: 2 }])
    expect(result.thread.messages[1]).toMatchObject({ toolCalls: [{ arguments: { amount: 1 } }] })
    expect(result.thread.messages[2]).toMatchObject({ metadata: { arguments: { amount: 2 } } })
  })

  test("denied: it does not run, and the model reads why", async () => {
    const { chat, ran } = await waiting(["pay"])
    const result = await chat.approve("c0", { type: "deny", reason: "too much" }).result()
    expect(result.thread.messages[2]).toMatchObject({ outcome: "denied", content: "too much" })
    expect(result.haltedReason).toBe("completed")
    expect(ran).toEqual([])
  })

  test("DEC1 halted: nothing that was allowed beside it starts, and the turn ends with the reason", async () => {
    const { chat, ran, adapter } = await waiting(["pay", "pay"])
    await chat.approve("c0", allow).result()
    const result = await chat.approve("c1", { type: "halt", reason: "stop_it" }).result()
    expect(result.haltedReason).toBe("stop_it")
    expect(results(result)).toEqual(["c0 not_started", "c1 denied"])
    expect(ran).toEqual([])
    expect(adapter.requests).toHaveLength(1)
  })

  test("a result in the call's place: it does not run", async () => {
    const { chat, ran } = await waiting(["pay"])
    const result = await chat.approve("c0", { type: "result", value: { paid: 3 } }).result()
    expect(result.thread.messages[2]).toMatchObject({ outcome: "completed", content: '{"paid":3}' })
    expect(ran).toEqual([])
  })

  test("OPEN3 a decision about one of several is kept, and nothing runs before the last", async () => {
    const waits = await waiting(["pay", "pay"])
    const first = waits.chat.approve("c1", allow)
    expect(await first.result()).toMatchObject({
      haltedReason: "awaiting_approval",
      pendingApprovals: [{ toolCall: { id: "c0" } }],
      steps: []
    })
    expect(await first.receipt).toEqual({ status: "delivered" })
    expect(waits.ran).toEqual([])
    const { chat } = await elsewhere(waits)
    expect(chat.getSnapshot()?.context.pendingApprovals.map(({ toolCall }) => toolCall.id)).toEqual(["c0"])
    const result = await chat.approve("c0", { type: "deny" }).result()
    expect(results(result)).toEqual(["c0 denied", "c1 completed"])
    expect(waits.ran).toHaveLength(1)
  })

  test("OPEN3 a call is decided once: of what is not waiting, or decided, nothing is decided", async () => {
    const { chat, ran } = await waiting(["pay", "pay"])
    await expect(chat.approve("nope", allow).result()).rejects.toMatchObject({ reason: "unknown_tool_call_id" })
    await chat.approve("c0", allow).result()
    await expect(chat.approve("c0", { type: "deny" }).result()).rejects.toMatchObject({
      reason: "unknown_tool_call_id"
    })
    const [last, again] = [chat.approve("c1", allow), chat.approve("c1", allow)]
    expect((await last.result()).haltedReason).toBe("completed")
    await expect(again.result()).rejects.toMatchObject({ reason: "unknown_tool_call_id" })
    expect(ran).toHaveLength(2)
  })

  test("OPEN3 of two calls of one id the first that waits is decided", () => {
    const call = { id: "same", name: "pay", arguments: {} }
    const waits = { state: "waiting", kind: "permission", reason: "asked", askedAt: 0 } as const
    const opened = {
      thread: { messages: [assistant("", [call, call])] },
      open: { at: 0, calls: [waits, waits] }
    }
    const once = decide(opened, [{ toolCallId: "same", decision: allow }])
    expect(once.calls.map(({ state }) => state)).toEqual(["decided", "waiting"])
    const twice = decide({ ...opened, open: once }, [{ toolCallId: "same", decision: { type: "deny" } }])
    expect(twice.calls).toMatchObject([{ decision: { type: "allow" } }, { decision: { type: "deny" } }])
  })

  test("nothing else is said to it: `awaiting_approval`; what was accepted before is run after", async () => {
    const { ran, all } = tools()
    const adapter = check.fake({ scripts: [calls("pay"), says("done"), says("more")] })
    const answer = Promise.withResolvers<"suspend">()
    const { troupe } = await check.troupe({ adapter, tools: all, permissions: { ask: () => answer.promise } })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => chat.getSnapshot()?.context.toolCalls[0]?.status === "gating")
    const accepted = chat.send("and more")
    expect(await accepted.receipt).toEqual({ status: "pending" })
    answer.resolve("suspend")
    expect((await turn.result()).haltedReason).toBe("awaiting_approval")
    await expect(chat.send("well?").result()).rejects.toMatchObject({ reason: "awaiting_approval" })
    expect((await chat.approve("c0", allow).result()).haltedReason).toBe("completed")
    expect((await accepted.result()).finalResponse?.outputText).toBe("more")
    expect(ran).toHaveLength(1)
  })

  test("a restart in between loses nothing", async () => {
    const waits = await waiting(["look", "pay"])
    const { chat, adapter } = await elsewhere(waits)
    expect(chat.getSnapshot()?.value).toBe("awaitingApproval")
    expect(chat.getSnapshot()?.context.pendingApprovals).toEqual(waits.result.pendingApprovals)
    const result = await chat.approve("c1", allow).result()
    expect(results(result)).toEqual(["c0 completed", "c1 completed"])
    expect(waits.ran).toHaveLength(1)
    expect(adapter.requests).toHaveLength(1)
  })

  test("CHAT10 nobody decides in time: the calls are answered, and the chat is at rest", async () => {
    const { chat, clock, ran, store, result } = await waiting(["look", "pay"], { suspendedTtlMs: 100 })
    expect(result.pendingApprovals).toMatchObject([{ expiresAt: 100 }])
    await clock.advance(100)
    await until(() => chat.getSnapshot()?.value === "idle")
    expect(results(chat)).toEqual(["c0 completed", "c1 denied"])
    expect(chat.getSnapshot()?.context.lastHaltedReason).toBe("expired")
    await expect(chat.approve("c1", allow).result()).rejects.toMatchObject({ reason: "unknown_tool_call_id" })
    expect(store.record()?.open).toBeUndefined()
    expect(ran).toEqual([])
    expect((await chat.send("well?").result()).haltedReason).toBe("completed")
  })

  test("CHAT10 the time goes on while no program runs; a call that was allowed beside an expired one does not run", async () => {
    const waits = await waiting(["pay", "pay"], { permissions: { ...permissions, expiresMs: 50 } })
    await waits.chat.approve("c0", allow).result()
    const record = waits.store.record()
    expect(record?.expiresAt).toBe(50)
    const { chat, clock } = await elsewhere(waits)
    await clock.advance(50)
    await until(() => chat.getSnapshot()?.value === "idle")
    expect(results(chat)).toEqual(["c0 not_started", "c1 denied"])
    expect(waits.ran).toEqual([])
  })

  test("CHAT2 a decision that cannot be stored is taken back", async () => {
    const waits = await waiting(["pay"])
    const { store, all, troupe } = waits
    const inner = store.leave()
    await troupe.stop()
    let failing = true
    const moody: RecordStore = {
      ...inner,
      save: (record) => (failing ? Promise.reject(new Error("disk")) : inner.save(record))
    }
    const adapter = check.fake({ scripts: [says("done")] })
    const started = await check.troupe({ adapter, tools: all, store: moody, permissions })
    const chat = await started.troupe.chat("c")
    expect(await chat.approve("c0", allow).result()).toMatchObject({ metadata: { error: { reason: "store_failed" } } })
    expect(waits.ran).toEqual([])
    expect(chat.getSnapshot()?.value).toBe("awaitingApproval")
    failing = false
    expect((await chat.approve("c0", allow).result()).haltedReason).toBe("completed")
    expect(waits.ran).toHaveLength(1)
  })

  test("cancelled while an allowed call runs: its call is answered, and the chat is free", async () => {
    const adapter = check.fake({ scripts: [calls("slow"), says("fine")] })
    const slow = make({ name: "slow", handler: () => new Promise(() => {}) })
    const { troupe, clock } = await check.troupe({
      adapter,
      tools: [slow],
      permissions: { ask: () => "suspend" },
      drainMs: 10
    })
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    const turn = chat.approve("c0", allow)
    await until(() => chat.getSnapshot()?.context.toolCalls[0]?.status === "running")
    const cancelled = chat.cancel()
    await hop()
    await clock.advance(10)
    await cancelled
    expect((await turn.result()).haltedReason).toBe("cancelled")
    expect(results(chat)).toEqual(["c0 abandoned"])
    expect((await chat.send("well?").result()).haltedReason).toBe("completed")
  })

  test("a turn that is cancelled while somebody is asked leaves no call waiting", async () => {
    const { all } = tools()
    const adapter = check.fake({ scripts: [calls("pay", "look")] })
    const second = Promise.withResolvers<"allow">()
    const { troupe } = await check.troupe({
      adapter,
      tools: all,
      permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : second.promise) }
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => chat.getSnapshot()?.context.toolCalls[1]?.status === "gating")
    await chat.cancel()
    expect((await turn.result()).haltedReason).toBe("cancelled")
    expect(results(chat)).toEqual(["c0 cancelled", "c1 cancelled"])
    expect(chat.getSnapshot()?.value).toBe("idle")
  })

  test("STEP7 a question that was asked beside them is asked when they are decided", async () => {
    const { chat, result } = await waiting(["ask", "pay"])
    expect(result).toMatchObject({ haltedReason: "awaiting_approval" })
    expect(result.pendingQuestion).toBeUndefined()
    const decided = await chat.approve("c1", allow).result()
    expect(decided).toMatchObject({ haltedReason: "ask_user", pendingQuestion: { question: "which?" } })
    expect(chat.getSnapshot()?.value).toBe("awaitingUser")
    expect((await chat.send("that").result()).haltedReason).toBe("completed")
  })

  test("calls that the caller answers wait until the others are decided", async () => {
    const { chat, result } = await waiting(["hand", "pay"])
    expect(result).toMatchObject({ pendingApprovals: [{}], pendingToolCalls: [{ id: "c0" }] })
    await expect(chat.submitToolResults({ c0: 1 }).result()).rejects.toMatchObject({ reason: "awaiting_approval" })
    const decided = await chat.approve("c1", allow).result()
    expect(decided).toMatchObject({ haltedReason: "manual_tool_calls", pendingToolCalls: [{ id: "c0" }] })
    expect((await chat.submitToolResults({ c0: 1 }).result()).haltedReason).toBe("completed")
  })

  test.each([
    ["no decision", undefined],
    ["another word", { type: "maybe" }],
    ["arguments that are none", { type: "allow", arguments: 1 }],
    ["a result without a JSON form", { type: "result", value: () => 1 }],
    ["a reserved reason", { type: "halt", reason: "completed" }],
    ["an empty reason", { type: "halt", reason: " " }],
    ["a reason that is no text", { type: "halt", reason: 5 }]
  ])("%s is refused at once", async (_what, decision) => {
    const { chat } = await waiting(["pay"])
    expect(() => chat.approve("c0", decision as Decision)).toThrow(ValidationError)
    expect(chat.getSnapshot()?.value).toBe("awaitingApproval")
  })
})
