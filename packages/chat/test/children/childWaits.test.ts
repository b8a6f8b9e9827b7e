import { expect, test } from "vitest"
import { Process } from "@troupe/otp"
import { refusal } from "../double/refusal.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { childrenIn, type Task, working } from "../double/subagents.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import type { Request } from "../../src/model/Request.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { askUser } from "../../src/values/HandlerResult.ts"

const check = leakCheck()

/** A Troupe whose root and whose agent work on tasks; each call of `write` waits for a person. */
const family = async (
  options: Partial<TroupeOptions> & { readonly kept?: SessionStore; readonly at?: number } = {}
) => {
  const { kept: store = memory(), at = 0, ...others } = options
  const written: Array<string> = []
  const write = tool({ name: "write", execute: (_, { idempotencyKey }) => `written ${written.push(idempotencyKey)}` })
  const ask = tool({ name: "ask", execute: () => askUser("Which one?") })
  const fill = tool({ name: "fill", manual: true })
  const tools = [write, ask, fill, subagent("research")]
  const permissions = {
    ask: ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
      toolCall.name === "write" ? ("suspend" as const) : ("allow" as const)
  }
  const research = { adapter: check.fake({ respond: working }), tools, permissions }
  const { troupe, clock } = await check.troupe({
    adapter: check.fake({ respond: working }),
    tools,
    permissions,
    agents: { research },
    store,
    ...others
  })
  await clock.advance(at)
  return { troupe, store, written, clock }
}

type Family = Awaited<ReturnType<typeof family>>

/** Gives the root a task, and returns the chat. */
const given = async ({ troupe }: Family, task: Task) => {
  const chat = await troupe.chat("c")
  const result = await chat.send(JSON.stringify(task)).result()
  return { chat, result }
}

const liveIn = ({ troupe }: Family) => Array.from(livingChatsOf(troupe).keys())

const waitsOf = async ({ troupe }: Family) => (await troupe.waiting()).waits

const allow = { type: "allow" } as const
const answers = (value: unknown) => ({ type: "result", value }) as const

test("SUB10 a call of a child that needs a decision waits at the root, without a process, and goes on when it has it", async () => {
  const made = await family()
  const { chat, result } = await given(made, [["write"]])
  expect(result.haltedReason).toBe("awaiting_approval")
  const [child = ""] = await childrenIn(made.store)
  expect(result.pendingApprovals).toMatchObject([
    {
      toolCall: { id: "c0/~/c0", name: "write", arguments: {} },
      kind: "permission",
      agent: "research",
      chat: child
    }
  ])
  expect(liveIn(made)).toEqual(["c"])
  expect(await waitsOf(made)).toMatchObject([
    { chat: "c", kind: "approval", toolCallId: "c0/~/c0", tool: "write", text: "{}", agent: { name: "research" } }
  ])
  const after = await chat.approve("c0/~/c0", allow).result()
  expect(after.finalResponse?.outputText).toBe("[[written 1]]")
  expect(await waitsOf(made)).toEqual([])
  expect(liveIn(made)).toEqual(["c"])
})

test("SUB10 a question two chats below gets its answer from the root", async () => {
  const made = await family()
  const { chat, result } = await given(made, [[["ask"]]])
  expect(result.pendingApprovals).toMatchObject([
    { toolCall: { id: "c0/~/c0/~/c0", name: "ask" }, kind: "question", reason: "Which one?", agent: "research" }
  ])
  expect(await waitsOf(made)).toMatchObject([{ kind: "question", toolCallId: "c0/~/c0/~/c0", text: "Which one?" }])
  const after = await chat.approve("c0/~/c0/~/c0", answers("the blue one")).result()
  expect(after.finalResponse?.outputText).toContain("the blue one")
  expect(await waitsOf(made)).toEqual([])
})

test("SUB10 a person gives the result of a manual call of a child, and denies a question", async () => {
  const made = await family()
  const { chat } = await given(made, [["fill"], ["ask"]])
  expect((await waitsOf(made)).map(({ kind }) => kind)).toEqual(["tool_result", "question"])
  await chat.approve("c0/~/c0", answers({ size: 3 })).result()
  const after = await chat.approve("c1/~/c0", { type: "deny", reason: "no idea" }).result()
  expect(after.finalResponse?.outputText).toContain('{"size":3}')
  expect(after.finalResponse?.outputText).toContain("no idea")
})

test("SUB11 parallel children and two waits of one child get each its own answer, and the turn goes on after the last", async () => {
  const made = await family()
  const { chat, result } = await given(made, [["write", "write"], "write", ["write"]])
  expect(result.pendingApprovals?.map(({ toolCall }) => toolCall.id)).toEqual(["c0/~/c0", "c0/~/c1", "c1", "c2/~/c0"])
  for (const id of ["c2/~/c0", "c0/~/c1", "c1"]) {
    expect((await chat.approve(id, allow).result()).haltedReason).toBe("awaiting_approval")
  }
  expect(made.written).toEqual([])
  const after = await chat.approve("c0/~/c0", { type: "deny", reason: "not this" }).result()
  expect(after.finalResponse?.outputText).toContain("not this")
  expect(new Set(made.written).size).toBe(3)
})

test("SUB11 a new program on the same store lists the wait and applies the answer, three chats below", async () => {
  const first = await family()
  await given(first, [[[["write"]]]])
  await first.troupe.stop()
  const made = await family({ kept: first.store })
  expect(await waitsOf(made)).toHaveLength(1)
  const chat = await made.troupe.chat("c")
  const after = await chat.approve("c0/~/c0/~/c0/~/c0", allow).result()
  expect(after.finalResponse?.outputText).toBe("[[[[written 1]]]]")
  expect(first.written).toEqual([])
  expect(await waitsOf(made)).toEqual([])
})

test("SUB11 an answer that was stored before the program ended gets to the child when the turn is retried", async () => {
  const first = await family()
  const { chat } = await given(first, [["write"], ["write"]])
  await chat.approve("c0/~/c0", allow).result()
  const turn = chat.approve("c1/~/c0", allow)
  await turn.receipt
  if (chat.pid !== undefined) Process.exit(chat.pid, "kill")
  await turn.result().catch(() => undefined)
  const after = await (await first.troupe.chat("c")).retry().result()
  expect(after.finalResponse?.outputText).toMatch(/^\[\[written \d\] \[written \d\]\]$/u)
  expect(new Set(first.written).size).toBe(2)
  expect(first.written).toHaveLength(2)
})

test("OPEN4 of two people who decide about the call of a child one is applied, and the other reads what was decided", async () => {
  const made = await family()
  const { chat } = await given(made, [["write"]])
  const one = chat.approve("c0/~/c0", allow)
  const other = chat.approve("c0/~/c0", { type: "deny" })
  expect((await one.result()).finalResponse?.outputText).toBe("[[written 1]]")
  await expect(other.result()).rejects.toMatchObject({
    reason: "unknown_tool_call_id",
    metadata: { toolCallId: "c0/~/c0", decision: allow }
  })
})

test("OPEN4 a decision about the call above the child is refused, and the refusal names the addresses", async () => {
  const made = await family()
  const { chat } = await given(made, [["write", "write"]])
  await expect(chat.approve("c0", allow).result()).rejects.toThrow(/c0\/~\/c0, c0\/~\/c1/)
  await expect(chat.send("hello").result()).rejects.toMatchObject({ reason: "awaiting_approval" })
})

test("DEC4 a question of a child is not allowed to run, and the error says what answers it", async () => {
  const made = await family()
  const { chat } = await given(made, [["ask"]])
  const refused = await refusal(() => chat.approve("c0/~/c0", allow))
  expect(String(refused)).toContain('{ type: "result", value }')
  expect(await waitsOf(made)).toHaveLength(1)
})

test("SUB12 a halt of a child's call ends the turn of the root too, and nothing runs", async () => {
  const made = await family()
  const { chat } = await given(made, [[["write"]], "write"])
  await chat.approve("c1", allow).result()
  const after = await chat.approve("c0/~/c0/~/c0", { type: "halt", reason: "stop_all" }).result()
  expect(after.haltedReason).toBe("stop_all")
  expect(made.written).toEqual([])
  expect(await waitsOf(made)).toEqual([])
})

test("SUB10 a wait of a child expires at the root, and the model of the root reads it", async () => {
  const made = await family({ suspendedTtlMs: 1_000 })
  const { chat, result } = await given(made, [["write"]])
  expect(result.pendingApprovals?.[0]?.expiresAt).toBe(1_000)
  await made.clock.advance(2_000)
  expect(chat.thread.messages.at(-1)?.content).toContain("expired")
  expect(await waitsOf(made)).toEqual([])
})

test("SUB11 a call of a child that may have run is asked about after a restart, and is not run by an earlier decision", async () => {
  let isStopped = true
  const hanging = { execute: () => new Promise<never>(() => undefined) }
  const ran: Array<string> = []
  const write = (which: string) =>
    tool({
      name: "write",
      execute: (_, { idempotencyKey }) => {
        ran.push(`${which} ${idempotencyKey}`)
        return isStopped ? hanging.execute() : "written again"
      }
    })
  const agents = (which: string) => ({
    research: {
      adapter: check.fake({ respond: working }),
      tools: [write(which)],
      permissions: { ask: () => "suspend" as const }
    }
  })
  const first = await family({ agents: agents("first") })
  const { chat } = await given(first, [["write"]])
  chat.approve("c0/~/c0", allow)
  await until(() => ran.length === 1)
  await first.troupe.stop()

  const second = await family({ agents: agents("second"), kept: first.store, at: 5_000 })
  const again = await (await second.troupe.chat("c")).retry().result()
  expect(again.pendingApprovals).toMatchObject([{ toolCall: { id: "c0/~/c0" }, kind: "unknown_outcome" }])
  await second.troupe.stop()
  expect(ran).toHaveLength(1)

  isStopped = false
  const third = await family({ agents: agents("third"), kept: first.store, at: 9_000 })
  const last = await (await third.troupe.chat("c")).approve("c0/~/c0", allow).result()
  expect(last.finalResponse?.outputText).toBe("[[written again]]")
  expect(ran).toHaveLength(2)
  expect(new Set(ran.map((run) => run.split(" ")[1])).size).toBe(1)
})

test("SUB7 the usage of a child that waited counts once, in each record from the wait on", async () => {
  const spending = (request: Request): Script => [{ usage: { totalTokens: 100 } }, ...working(request)]
  const research = { adapter: check.fake({ respond: spending }), tools: [tool({ name: "fill", manual: true })] }
  const made = await family({ agents: { research } })
  const { chat, result } = await given(made, [["fill"], ["fill"]])
  expect(result.steps[0]?.childUsage).toMatchObject({ totalTokens: 200 })
  expect((await made.store.load("c"))?.usage).toMatchObject({ totalTokens: 200 })
  await chat.approve("c0/~/c0", answers("a")).result()
  const after = await chat.approve("c1/~/c0", answers("b")).result()
  expect(after.steps[0]?.childUsage).toMatchObject({ totalTokens: 200 })
  expect((await made.store.load("c"))?.usage).toMatchObject({ totalTokens: 400 })
})

test("JOUR7 the usage of a child whose call was over when the process of its parent died counts once", async () => {
  let isHeld = true
  const spending = (request: Request): Script => [{ usage: { totalTokens: 100 } }, ...working(request)]
  const slow = tool({
    name: "fill",
    execute: () => (isHeld ? new Promise<never>(() => undefined) : "filled"),
    onUnknown: "retry"
  })
  const research = { adapter: check.fake({ respond: spending }), tools: [] }
  const made = await family({ agents: { research }, tools: [slow, subagent("research")] })
  const chat = await made.troupe.chat("c")
  const turn = chat.send(JSON.stringify([[], "fill"]))
  await until(() => chat.getSnapshot()?.context.toolCalls[0]?.status === "done")
  isHeld = false
  if (chat.pid !== undefined) Process.exit(chat.pid, "kill")
  await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
  const after = await (await made.troupe.chat("c")).retry().result()
  expect(after.finalResponse?.outputText).toBe("[[] filled]")
  expect((await made.store.load("c"))?.usage).toMatchObject({ totalTokens: 100 })
})

test("SUB10 the choices of a sub-agent's question are in the waits of the root, and in its approvals", async () => {
  const options = { choices: ["red", "blue"] }
  const ask = tool({ name: "ask", execute: () => askUser("Which one?", options) })
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: working }),
    tools: [subagent("research")],
    agents: { research: { adapter: check.fake({ respond: working }), tools: [ask, subagent("research")] } },
    store: memory()
  })
  const chat = await troupe.chat("c")
  await chat.send(JSON.stringify([["ask"], [["ask"]]])).result()
  const waits = [
    { toolCallId: "c0/~/c0", options },
    { toolCallId: "c1/~/c0/~/c0", options }
  ]
  expect(await troupe.waiting()).toMatchObject({ waits })
  expect((await chat.view()).approvals).toMatchObject([{ options }, { options }])
})
