/** Background tasks whose sub-agents wait for a person. */
import { expect, test } from "vitest"
import { Process } from "@troupe/otp"
import { refusal } from "../double/refusal.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { shortIdOf } from "../../src/record/index.ts"
import { childrenIn } from "../double/subagents.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const boss = ({ messages }: Request): Script => {
  const last = said(messages.at(-1))
  const [verb, agent, input] = last.split(" ")
  if (verb === "again") return calls(["research", { agent, input }])
  return last.startsWith("go") ? calls(["research", { input: last.slice(3) }]) : says(`boss read ${last}`)
}

/** The agent calls the tools of its task, all in one message, and answers with their results. */
const research = ({ messages }: Request): Script => {
  const last = messages.at(-1)
  const first = said(messages.find(({ role }) => role === "user"))
  if (last?.role === "user" && said(last) === first) return calls(...first.split(" "))
  const results = messages.filter(({ role }) => role === "tool" || role === "user").slice(1)
  return says(`found ${results.map(said).join(", ")}`)
}

/** Each call of `write` waits for a person, and so does each of `ask`. */
const team = async (
  options: Partial<TroupeOptions> & { readonly timeoutMs?: number; readonly store?: SessionStore } = {}
) => {
  const { timeoutMs, store = memory(), ...others } = options
  const written: Array<string> = []
  const write = tool({ name: "write", execute: (_, { idempotencyKey }) => `written ${written.push(idempotencyKey)}` })
  const ask = tool({ name: "ask", execute: () => askUser("Which metal?") })
  const fill = tool({ name: "fill", manual: true })
  const permissions = {
    ask: ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
      toolCall.name === "write" ? ("suspend" as const) : ("allow" as const)
  }
  const { troupe, clock } = await check.troupe({
    adapter: check.fake({ respond: boss }),
    tools: [subagent("research", { background: true, timeoutMs })],
    agents: { research: { adapter: check.fake({ respond: research }), tools: [write, ask, fill], permissions } },
    store,
    drainMs: 10,
    ...others
  })
  return { troupe, clock, store, written }
}

const waitsOf = async ({ troupe }: Pick<Awaited<ReturnType<typeof team>>, "troupe">) => (await troupe.waiting()).waits

const approvals = (chat: LocalChatRef) => chat.getSnapshot()?.context.pendingApprovals ?? []

const lastOf = (chat: LocalChatRef) => said(chat.thread.messages.at(-1))

const waiting = (chat: LocalChatRef, many = 1) => until(() => approvals(chat).length === many, "the wait")

/** The chat, after an input whose task waits. */
const waitingChat = async ({ troupe }: Pick<Awaited<ReturnType<typeof team>>, "troupe">, input: string, many = 1) => {
  const chat = await troupe.chat("c")
  await chat.send(input).result()
  await waiting(chat, many)
  return chat
}

const ended = (chat: LocalChatRef) => until(() => lastOf(chat).startsWith("boss read The background task"), "the end")

const allow = { type: "allow" } as const

const result = (value: unknown) => ({ type: "result", value }) as const

test("BG10 a task whose sub-agent needs an approval waits, and goes on with the decision while its chat rests", async () => {
  const made = await team()
  const chat = await made.troupe.chat("c")
  expect((await chat.send("go write").result()).haltedReason).toBe("completed")
  await waiting(chat)
  const [task] = await chat.tasks()
  expect(task).toMatchObject({ tool: "research", status: "waiting" })
  const [child = ""] = await childrenIn(made.store)
  expect(approvals(chat)).toMatchObject([
    {
      toolCall: { id: "c0/~/c0", name: "write" },
      kind: "permission",
      agent: "research",
      chat: child,
      task: task?.id ?? ""
    }
  ])
  expect((await chat.view()).approvals).toMatchObject([{ toolCall: { id: "c0/~/c0" }, task: task?.id ?? "" }])
  await until(() => livingChatsOf(made.troupe).size === 1)
  expect(await waitsOf(made)).toMatchObject([
    { chat: "c", kind: "approval", toolCallId: "c0/~/c0", tool: "write", agent: { name: "research" } }
  ])
  const turn = chat.approve("c0/~/c0", allow)
  expect(await turn.result()).toMatchObject({ haltedReason: "completed", steps: [] })
  await ended(chat)
  expect(lastOf(chat)).toContain("has ended: done.\nfound written 1")
  expect(made.written).toHaveLength(1)
  expect(await waitsOf(made)).toEqual([])
  expect(await chat.tasks()).toEqual([])
})

test("BG10 turns of the chat go on while a task waits, and a question of its sub-agent gets its answer", async () => {
  const made = await team()
  const chat = await waitingChat(made, "go ask")
  expect(approvals(chat)).toMatchObject([{ kind: "question", reason: "Which metal?", toolCall: { id: "c0/~/c0" } }])
  const meanwhile = await chat.send("and now?").result()
  expect(meanwhile).toMatchObject({ haltedReason: "completed", finalResponse: { outputText: "boss read and now?" } })
  expect(approvals(chat)).toHaveLength(1)
  await chat.approve("c0/~/c0", result("gold")).result()
  await ended(chat)
  expect(lastOf(chat)).toContain("has ended: done.\nfound")
  expect(lastOf(chat)).toContain("gold")
})

test("TASKWAIT1 a task goes on when each of its waits is decided, and a second decision about one is refused", async () => {
  const made = await team()
  const chat = await waitingChat(made, "go write write", 2)
  await chat.approve("c0/~/c0", allow).result()
  expect(approvals(chat).map(({ toolCall }) => toolCall.id)).toEqual(["c0/~/c1"])
  expect(made.written).toEqual([])
  expect(await refusal(() => chat.approve("c0/~/c0", { type: "deny" }).result())).toMatchObject({
    reason: "unknown_tool_call_id",
    metadata: { toolCallId: "c0/~/c0", decision: { type: "allow" } }
  })
  await chat.approve("c0/~/c1", { type: "deny", reason: "not this" }).result()
  await ended(chat)
  expect(lastOf(chat)).toContain("found written 1")
  expect(lastOf(chat)).toContain("not this")
  expect(made.written).toHaveLength(1)
})

test("TASKWAIT1 decisions about a task and an answer that is none of its kind are refused together", async () => {
  const made = await team()
  const chat = await waitingChat(made, "go ask")
  expect(await refusal(() => chat.approve("c0/~/c0", allow).result())).toMatchObject({ reason: "invalid_options" })
  expect(await refusal(() => chat.approve("c0/~/c7", allow).result())).toMatchObject({ reason: "unknown_tool_call_id" })
  expect(approvals(chat)).toHaveLength(1)
  await chat.approve("c0/~/c0", { type: "deny" }).result()
  await ended(chat)
})

test("BG10 a task that waits twice has each wait under its address, and each answer once", async () => {
  const store = memory()
  const twice = ({ messages }: Request): Script => {
    const results = messages.filter(({ role }) => role === "tool")
    return results.length < 2 ? calls("write") : says(`found ${results.map(said).join(", ")}`)
  }
  const written: Array<string> = []
  const write = tool({ name: "write", execute: (_, { idempotencyKey }) => `written ${written.push(idempotencyKey)}` })
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: boss }),
    tools: [subagent("research", { background: true })],
    agents: {
      research: {
        adapter: check.fake({ respond: twice }),
        tools: [write],
        permissions: { ask: () => "suspend" as const }
      }
    },
    store,
    drainMs: 10
  })
  const chat = await waitingChat({ troupe }, "go dig")
  const [first] = approvals(chat)
  await chat.approve("c0/~/c0", allow).result()
  await until(() => written.length === 1 && approvals(chat).length === 1)
  expect(approvals(chat)[0]?.askedAt).toBeGreaterThanOrEqual(first?.askedAt ?? Infinity)
  await chat.approve("c0/~/c0", allow).result()
  await ended(chat)
  expect(lastOf(chat)).toContain("found written 1, written 2")
  expect(new Set(written).size).toBe(2)
})

test("BG10 the deadline of a task stands still while it waits, and its chat is unloaded", async () => {
  const made = await team({ timeoutMs: 5_000, passivateAfterMs: 1_000 })
  const chat = await waitingChat(made, "go write")
  for (let turn = 0; turn < 40; turn++) await made.clock.advance(500)
  expect(made.troupe.isAlive("c")).toBe(false)
  expect((await chat.tasks())[0]).toMatchObject({ status: "waiting" })
  await chat.approve("c0/~/c0", allow).result()
  await ended(chat)
  expect(lastOf(chat)).toContain("has ended: done.\nfound written 1")
})

test("BG10 the next program has the wait of a task without starting its chat, and the answer reaches the call", async () => {
  const store = memory()
  const first = await team({ store })
  await waitingChat(first, "go write")
  await first.troupe.stop()
  const second = await team({ store })
  expect(await waitsOf(second)).toMatchObject([{ chat: "c", kind: "approval", toolCallId: "c0/~/c0" }])
  expect(second.troupe.isAlive("c")).toBe(false)
  const chat = await second.troupe.chat("c")
  expect((await chat.tasks())[0]).toMatchObject({ status: "waiting" })
  await chat.approve("c0/~/c0", allow).result()
  await ended(chat)
  expect(lastOf(chat)).toContain("has ended: done.\nfound written 1")
  expect(first.written).toEqual([])
})

test("BG10 a task that was decided before its program ended goes on in the next program", async () => {
  const store = memory()
  const first = await team({ store })
  await waitingChat(first, "go write")
  const record = await store.load("c")
  await first.troupe.stop()
  const [task] = record?.tasks ?? []
  if (task?.child === undefined) throw new Error("the task does not wait")
  const asks = task.child.asks.map((ask) => ({ ...ask, decision: allow }))
  const decided = { ...task, child: { ...task.child, asks } }
  await store.append("c", [{ type: "TaskChanged", task: decided }], { after: record?.version ?? 0 })
  const second = await team({ store })
  await until(() => second.troupe.isAlive("c"))
  const chat = await second.troupe.chat("c")
  await ended(chat)
  expect(lastOf(chat)).toContain("has ended: done.\nfound written 1")
  expect(second.written).toHaveLength(1)
})

test("BG10 the process of a chat dies while a task waits, and the wait is there again", async () => {
  const made = await team()
  const chat = await waitingChat(made, "go write")
  const { pid } = chat
  if (pid !== undefined) Process.kill(pid)
  await until(() => chat.pid !== undefined && chat.pid !== pid)
  await waiting(chat)
  await chat.approve("c0/~/c0", allow).result()
  await ended(chat)
  expect(made.written).toHaveLength(1)
})

test("BG10 a task that waits is cancelled, and its wait is gone", async () => {
  const made = await team()
  const chat = await waitingChat(made, "go write")
  const [task] = await chat.tasks()
  await chat.cancelTask(task?.id ?? "")
  await ended(chat)
  expect(lastOf(chat)).toContain("has ended: cancelled.\nIt waited for a person.")
  expect(approvals(chat)).toEqual([])
  expect(await waitsOf(made)).toEqual([])
  expect(made.written).toEqual([])
})

test("BG10 with suspendedTtlMs a task that waits for longer ends timed_out, also after a restart", async () => {
  const store = memory()
  const first = await team({ store, suspendedTtlMs: 1_000 })
  const before = await waitingChat(first, "go write")
  expect(approvals(before)[0]?.expiresAt).toBe((approvals(before)[0]?.askedAt ?? 0) + 1_000)
  await first.clock.advance(500)
  await first.troupe.stop()
  const second = await team({ store, suspendedTtlMs: 1_000 })
  const chat = await second.troupe.chat("c")
  expect(approvals(chat)).toHaveLength(1)
  await second.clock.advance(1_000)
  await ended(chat)
  expect(lastOf(chat)).toContain("has ended: timed_out.")
  expect(await waitsOf(second)).toEqual([])
})

test("BG10, PERSON1 a handler in the background asks a person, and runs again with the answer and its state", async () => {
  const seen: Array<unknown> = []
  const deploy = tool({
    name: "deploy",
    background: true,
    effect: "read",
    execute: (_, { chat }) => {
      const { answered } = chat ?? {}
      seen.push(answered)
      if (answered === undefined) return chat?.waitFor?.([{ id: "where", question: "Where?" }], { tried: 1 })
      return "deployed"
    }
  })
  const respond = ({ messages }: Request): Script =>
    said(messages.at(-1)) === "go" ? calls("deploy") : says(`boss read ${said(messages.at(-1))}`)
  const store = memory()
  const program = () => check.troupe({ adapter: check.fake({ respond }), tools: [deploy], store, drainMs: 10 })
  const first = await program()
  const before = await waitingChat(first, "go")
  expect(approvals(before)).toMatchObject([{ kind: "question", reason: "Where?", toolCall: { id: "c0/~/where" } }])
  await first.troupe.stop()
  const second = await program()
  const chat = await second.troupe.chat("c")
  await chat.approve("c0/~/where", result("there")).result()
  await ended(chat)
  expect(lastOf(chat)).toContain("has ended: done.\ndeployed")
  expect(seen).toEqual([undefined, { decisions: { where: result("there") }, state: { tried: 1 } }])
})

test("BG6 a person halts the sub-agent of a task: the task ends cancelled, and nothing of it runs", async () => {
  const made = await team()
  const chat = await waitingChat(made, "go write write", 2)
  await chat.approve("c0/~/c0", allow).result()
  await chat.approve("c0/~/c1", { type: "halt", reason: "enough" }).result()
  await ended(chat)
  expect(lastOf(chat)).toContain("has ended: cancelled.")
  expect(made.written).toEqual([])
})

test("TASKREC2 a rewind to before an answer leaves the task as it is now", async () => {
  const made = await team()
  const chat = await waitingChat(made, "go write write", 2)
  const seq = (await made.store.load("c"))?.version ?? 0
  await chat.approve("c0/~/c0", allow).result()
  await made.troupe.rewind("c", seq)
  const again = await made.troupe.chat("c")
  expect(approvals(again).map(({ toolCall }) => toolCall.id)).toEqual(["c0/~/c1"])
  await again.approve("c0/~/c1", allow).result()
  await ended(again)
  expect(made.written).toHaveLength(2)
})

test("BG10 decisions about a task and about the chat's own call are one answer", async () => {
  const store = memory()
  const written: Array<string> = []
  const write = tool({ name: "write", execute: (_, { idempotencyKey }) => `written ${written.push(idempotencyKey)}` })
  const both = (request: Request): Script => {
    const last = said(request.messages.at(-1))
    if (last === "mine") return [{ toolCall: { id: "own", name: "write", arguments: {} } }, { finish: "tool_calls" }]
    return boss(request)
  }
  const permissions = {
    ask: ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
      toolCall.name === "write" ? ("suspend" as const) : ("allow" as const)
  }
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: both }),
    tools: [subagent("research", { background: true }), write],
    permissions,
    agents: { research: { adapter: check.fake({ respond: research }), tools: [write], permissions } },
    store,
    drainMs: 10
  })
  const chat = await waitingChat({ troupe }, "go write")
  expect((await chat.send("mine").result()).haltedReason).toBe("awaiting_approval")
  expect(approvals(chat).map(({ toolCall }) => toolCall.id)).toEqual(["own", "c0/~/c0"])
  const after = await chat.answer({ decisions: { own: allow, "c0/~/c0": allow } }).result()
  expect(after.haltedReason).toBe("completed")
  await until(() => written.length === 2)
  await ended(chat)
})

/** Ends the task of a chat while its agent waits, and calls that agent again. */
const calledAgain = async (
  { troupe, store }: Pick<Awaited<ReturnType<typeof team>>, "troupe" | "store">,
  end: (chat: LocalChatRef) => Promise<unknown>
) => {
  const chat = await waitingChat({ troupe }, "go write")
  await end(chat)
  await ended(chat)
  const [child = ""] = await childrenIn(store)
  await chat.send(`again ${shortIdOf(child, "research")} write`).result()
  await waiting(chat)
  await chat.approve("c0/~/c0", allow).result()
  const done = () => chat.thread.messages.filter((message) => /^The background task .*: done/u.test(said(message)))
  await until(() => done().length === 1)
  return { child, children: await childrenIn(store), end: said(done()[0]) }
}

test("SUB20 an agent whose task was cancelled while it waited is called again, and its former wait is over", async () => {
  const made = await team()
  const { child, children, end } = await calledAgain(made, async (chat) => {
    const [task] = await chat.tasks()
    await chat.cancelTask(task?.id ?? "")
  })
  expect(children).toEqual([child])
  expect(end).toContain("written 1")
  expect(made.written).toHaveLength(1)
})

test("SUB20 an agent whose task expired while it waited is called again, and its former wait is over", async () => {
  const made = await team({ suspendedTtlMs: 1_000 })
  const { child, children, end } = await calledAgain(made, () => made.clock.advance(1_000))
  expect(children).toEqual([child])
  expect(end).toContain("written 1")
  expect(made.written).toHaveLength(1)
})

test("SUB20 another call of an agent whose task waits is refused, and the wait is as before", async () => {
  const made = await team()
  const chat = await waitingChat(made, "go write")
  const [child = ""] = await childrenIn(made.store)
  await chat.send(`again ${shortIdOf(child, "research")} write`).result()
  await until(() => lastOf(chat).includes("has ended: failed."))
  expect(lastOf(chat)).toContain("waits for a person")
  expect(approvals(chat)).toHaveLength(1)
  await chat.approve("c0/~/c0", allow).result()
  await until(() => lastOf(chat).includes("has ended: done."))
  expect(made.written).toHaveLength(1)
})
