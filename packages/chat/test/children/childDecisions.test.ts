import { expect, test } from "vitest"
import { refusal } from "../double/refusal.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { says } from "../double/scripts.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import type { Request } from "../../src/model/Request.ts"
import { text } from "../../src/model/Message.ts"
import { memory } from "../../src/store/Store.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { defaultMaxToolResultCharacters } from "../../src/values/index.ts"
import { askUser } from "../../src/values/HandlerResult.ts"

const check = leakCheck()

const call = (id: string, name: string, args: Readonly<Record<string, unknown>> = {}): Script => [
  { toolCall: { id, name, arguments: args } },
  { finish: "tool_calls" }
]

/** Calls the tool for the first message, and then says what it got. */
const once =
  (id: string, name: string) =>
  ({ messages }: Request): Script =>
    messages.length === 1 ? call(id, name, { input: "go" }) : says(messages.slice(1).map(text).join(""))

const long = "long ".repeat(5_000)

const tools = {
  write: tool({ name: "write", execute: () => "written" }),
  ask: tool({ name: "ask", execute: () => askUser("Which one?") }),
  askMore: tool({ name: "askMore", execute: () => askUser(long) }),
  confirmed: tool({ name: "confirmed", execute: () => askUser("Sure?") }),
  fill: tool({ name: "fill", manual: true })
}

/** A root whose agent `mid` gives the task to `leaf`, or does it; the calls of `write` and `confirmed` wait for a person. */
const family = async (
  work: (request: Request) => Script,
  { depth = 1, store = memory(), root = [subagent("mid")], mid = [subagent("leaf"), ...Object.values(tools)] } = {}
) => {
  const leaf = { adapter: check.fake({ respond: work }), tools: Object.values(tools) }
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: once("r", "mid") }),
    tools: root,
    permissions: {
      ask: ({ toolCall }) => (["write", "confirmed"].includes(toolCall.name) ? "suspend" : "allow")
    },
    agents: {
      leaf,
      mid: { adapter: depth === 1 ? leaf.adapter : check.fake({ respond: once("m", "leaf") }), tools: mid }
    },
    store
  })
  const chat = await troupe.chat("c")
  const waits = async () => (await troupe.waiting()).waits.map(({ kind, toolCallId }) => [kind, toolCallId])
  return { chat, waits, troupe, store, address: depth === 1 ? "r/~/k" : "r/~/m/~/k" }
}

const allow = { type: "allow" } as const
const answers = (value: unknown) => ({ type: "result", value }) as const

/** Writes twice, by calls of the same id. */
const twice = ({ messages }: Request): Script => (messages.length < 4 ? call("k", "write") : says("done"))

test.each([1, 2])(
  "OPEN5 a decision about a wait of a child does not decide about a later wait of the same address, %i below",
  async (depth) => {
    const { chat, waits, address } = await family(twice, { depth })
    await chat.send("go").result()
    const one = chat.approve(address, allow)
    const other = chat.approve(address, { type: "deny", reason: "not this" })
    const { pendingApprovals } = await one.result()
    expect(pendingApprovals).toMatchObject([{ toolCall: { id: address }, kind: "permission" }])
    await expect(other.result()).rejects.toMatchObject({
      reason: "unknown_tool_call_id",
      metadata: { toolCallId: address, decision: allow }
    })
    expect(await waits()).toEqual([["approval", address]])
    expect((await chat.approve(address, allow).result()).finalResponse?.outputText).toContain("done")
  }
)

test("OPEN5 a decision about a call does not decide about a later call of the same id", async () => {
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: twice }),
    tools: [tools.write],
    permissions: { ask: () => "suspend" }
  })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  const [one, other] = [chat.approve("k", allow), chat.approve("k", { type: "deny", reason: "not this" })]
  expect(await one.result()).toMatchObject({ haltedReason: "awaiting_approval" })
  await expect(other.result()).rejects.toMatchObject({
    reason: "unknown_tool_call_id",
    metadata: { toolCallId: "k", decision: allow }
  })
  expect((await troupe.waiting()).waits).toMatchObject([{ kind: "approval", toolCallId: "k" }])
  expect((await chat.approve("k", allow).result()).finalResponse?.outputText).toBe("done")
})

test.each([answers("yes"), allow, { type: "halt" } as const])(
  "OPEN5 a decision about a call does not answer the question that the call asks: %j",
  async (late) => {
    const { chat, waits, address } = await family(once("k", "confirmed"))
    await chat.send("go").result()
    const [one, other] = [chat.approve(address, allow), chat.approve(address, late)]
    await one.result()
    await expect(other.result()).rejects.toMatchObject({ metadata: { decision: allow } })
    expect(await waits()).toEqual([["question", address]])
  }
)

test.each([
  ["write", allow, 1],
  ["write", allow, 2],
  ["ask", answers("this"), 1]
] as const)(
  "OPEN5 a decision that is given before the chat lists a wait of its address is refused, and the wait stays: %s %j %i below",
  async (name, decision, depth) => {
    const { chat, waits, address } = await family(once("k", name), { depth })
    const turn = chat.send("go")
    const early = chat.approve(address, decision)
    await turn.result()
    await expect(early.result()).rejects.toMatchObject({
      reason: "unknown_tool_call_id",
      metadata: { toolCallId: address }
    })
    expect(await waits()).toEqual([[name === "ask" ? "question" : "approval", address]])
    expect((await chat.approve(address, decision).result()).haltedReason).toBe("completed")
  }
)

test("OPEN5 the second of two answers is refused with the first when the turn is over", async () => {
  const { chat, address } = await family(once("k", "ask"))
  await chat.send("go").result()
  const [one, other] = [chat.approve(address, answers("this")), chat.approve(address, answers("that"))]
  expect((await one.result()).finalResponse?.outputText).toContain("this")
  await expect(other.result()).rejects.toMatchObject({ metadata: { outcome: "completed", decision: answers("this") } })
})

test.each([
  ["root", 1],
  ["mid", 2]
] as const)(
  "DEC3 a decision that a chat above cannot pass on is refused, and still waits: %s",
  async (lacking, depth) => {
    const first = await family(once("k", "write"), { depth })
    await first.chat.send("go").result()
    await first.troupe.stop()
    const { chat, waits, address } = await family(once("k", "write"), { depth, store: first.store, [lacking]: [] })
    for (const decision of [allow, answers("done")]) {
      const refused = await refusal(() => chat.approve(address, decision))
      expect(refused).toMatchObject({ reason: "unknown_tool", metadata: { toolCallId: address } })
      expect(String(refused)).toContain("so the call still waits")
    }
    expect(await waits()).toEqual([["approval", address]])
    expect((await chat.approve(address, { type: "halt" }).result()).haltedReason).toBe("halt")
  }
)

test.each(["", " \n"])("DEC4 an answer without a text is refused, and the question still waits: %j", async (blank) => {
  const { chat, waits, address } = await family(once("k", "ask"))
  await chat.send("go").result()
  const refused = await refusal(() => chat.approve(address, answers(blank)))
  expect(refused).toMatchObject({ _tag: "ValidationError", errors: [{ field: ["decision", "value"] }] })
  expect(await waits()).toEqual([["question", address]])
  const after = await chat.approve(address, { type: "deny", reason: blank }).result()
  expect(after.finalResponse?.outputText).toContain("Nobody answers")
})

test("SUB12 the result of a call that a halt ended has the reason", async () => {
  const { chat, address } = await family(once("k", "write"), { depth: 2 })
  await chat.send("go").result()
  await chat.approve(address, { type: "halt", reason: "stop_all" }).result()
  expect(chat.thread.messages.at(-1)?.content).toMatch(/^not run, because the turn was ended: stop_all/u)
})

test("SUB10 a long question has the number of the characters left out, however deep the child is", async () => {
  const { chat, troupe } = await family(once("k", "askMore"), { depth: 2 })
  const { pendingApprovals } = await chat.send("go").result()
  const shown = `${long.slice(0, 2_000)}… (${long.length - 2_000} characters more)`
  expect(pendingApprovals?.[0]?.reason).toBe(shown)
  expect((await troupe.waiting()).waits[0]?.text).toBe(shown)
})

test("SUB10 long arguments have the number of the characters left out, also where they are shown shorter", async () => {
  const filled = ({ messages }: Request): Script => (messages.length === 1 ? call("k", "fill", { long }) : says("done"))
  const { chat, troupe } = await family(filled, { depth: 2 })
  const { pendingApprovals } = await chat.send("go").result()
  const length = JSON.stringify({ long }).length
  expect(pendingApprovals?.[0]?.toolCall.rawArguments).toContain(`… (${length - 16_000} characters more)`)
  expect((await troupe.waiting()).waits[0]?.text).toMatch(
    new RegExp(`[^)]… \\(${length - 2_000} characters more\\)$`, "u")
  )
})

test("a submitted result for a call of a child is refused with what gives it", async () => {
  const { chat, address } = await family(once("k", "fill"))
  await chat.send("go").result()
  const refused = await refusal(() => chat.submitToolResults({ [address]: 1 }))
  expect(refused).toMatchObject({ reason: "unknown_tool_call_id" })
  expect(String(refused)).toContain(`approve("${address}", { type: "result", value })`)
})

const halt = { type: "halt", reason: "stop_all" } as const

test.each([
  ["write", halt, answers(1)],
  ["write", allow, halt],
  ["ask", halt, answers(1)]
] as const)(
  "SUB12 a halt prevents what is decided beside it, also about a manual call: %s %j %j",
  async (name, first, second) => {
    let requests = 0
    const work = ({ messages }: Request): Script => {
      requests += 1
      const both = ["k", "f"].map((id) => ({ toolCall: { id, name: id === "k" ? name : "fill", arguments: {} } }))
      return messages.length === 1 ? [...both, { finish: "tool_calls" }] : says("went on")
    }
    const { chat, address, troupe } = await family(work)
    await chat.send("go").result()
    await chat.approve(address, first).result()
    const { haltedReason } = await chat.approve("r/~/f", second).result()
    expect(haltedReason).toBe("stop_all")
    expect(requests).toBe(1)
    const { chats } = await troupe.list({ prefix: "c/~/" })
    const child = await troupe.at(chats[0]?.id ?? "", chats[0]?.seq ?? 0)
    expect(child?.thread.messages.map(text)).not.toContain("written")
  }
)

test("SUB12 a halt ends the turn of the root when the child that it is for cannot be loaded", async () => {
  const first = await family(once("k", "write"))
  await first.chat.send("go").result()
  await first.troupe.stop()
  const kept = first.store
  const load: typeof kept.load = (id) => (id.includes("/~/") ? Promise.reject(new Error("disk")) : kept.load(id))
  const { chat, address } = await family(once("k", "write"), { store: { ...kept, load } })
  const { haltedReason } = await chat.approve(address, halt).result()
  expect(haltedReason).toBe("stop_all")
})

test("DEC3 a call of a child that waits beside a handoff is of the agent that made it", async () => {
  const leaf = ({ messages }: Request): Script =>
    messages.length > 1 ? says("late") : [...call("h", "handoff_to_other").slice(0, 1), ...call("k", "write")]
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: once("r", "leaf") }),
    tools: [subagent("leaf")],
    permissions: { ask: ({ toolCall }) => (toolCall.name === "write" ? "suspend" : "allow") },
    agents: {
      leaf: { adapter: check.fake({ respond: leaf }), tools: [tools.write], handoffs: ["other"] },
      other: {
        adapter: check.fake({ respond: ({ messages }) => says(`other: ${messages.map(text).join(" ")}`) }),
        tools: []
      }
    }
  })
  const chat = await troupe.chat("c")
  const { pendingApprovals } = await chat.send("go").result()
  expect(pendingApprovals).toMatchObject([{ toolCall: { id: "r/~/k" }, agent: "leaf" }])
  const after = await chat.approve("r/~/k", allow).result()
  expect(after.finalResponse?.outputText).toMatch(/other: .*written/u)
})

test("SUB5 a child whose conversation was deleted while it waited does not begin again", async () => {
  const { chat, address, store } = await family(once("k", "write"))
  const { pendingApprovals } = await chat.send("go").result()
  await store.delete(pendingApprovals?.[0]?.chat ?? "")
  const after = await chat.approve(address, allow).result()
  expect(after.haltedReason).toBe("completed")
  expect(after.finalResponse?.outputText).toContain("was deleted after it had begun")
})

test("DEC4 a result that is too long for a call of a child is refused, and the call still waits", async () => {
  const { chat, waits, address } = await family(once("k", "fill"))
  await chat.send("go").result()
  const refused = await refusal(() => chat.approve(address, answers("x".repeat(defaultMaxToolResultCharacters + 1))))
  expect(refused).toMatchObject({ _tag: "ValidationError", errors: [{ field: ["decision", "value"] }] })
  expect(await waits()).toEqual([["tool_result", address]])
})
