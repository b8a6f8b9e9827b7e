import { expect, test } from "vitest"
import { leakCheck } from "../double/leakCheck.ts"
import { refusal } from "../double/refusal.ts"
import { childrenIn, working } from "../double/subagents.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { ToolError } from "../../src/errors/ChatError.ts"
import { error } from "../../src/values/HandlerResult.ts"
import type { ToolContext } from "../../src/tool/toolContract.ts"

const check = leakCheck()

const schema = { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] }

/** Asks how many seats, then which row, and books. */
const booking = async ({ chat }: ToolContext, booked: Array<unknown>) => {
  if (chat?.waitFor === undefined) return "nobody can be asked"
  const { decisions, state } = chat.answered ?? { decisions: {}, state: undefined }
  const { seats, row } = decisions
  if (seats?.type === "deny") return `not booked: ${seats.reason ?? ""}`
  if (seats?.type === "result")
    return chat.waitFor([{ id: "row", question: "Which row?" }], { seats: seats.value, of: state })
  if (row?.type !== "result")
    return chat.waitFor([{ id: "seats", question: "How many seats?", options: { schema } }], "first")
  booked.push({ ...(state as object), row: row.value })
  return "booked"
}

const theatre = async (kept: SessionStore = memory(), book?: (context: ToolContext) => unknown) => {
  const booked: Array<unknown> = []
  const tools = [
    tool({ name: "book", execute: (_, context) => (book ?? ((given) => booking(given, booked)))(context) }),
    tool({ name: "plain", execute: () => error(new ToolError("outcome_unknown", { message: "the line was cut" })) }),
    tool({
      name: "fails",
      onUnknown: "fail",
      execute: () => error(new ToolError("outcome_unknown", { message: "the line was cut" }))
    }),
    subagent("research")
  ]
  const research = { adapter: check.fake({ respond: working }), tools }
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: working }),
    tools,
    agents: { research },
    store: kept
  })
  const chat = await troupe.chat("c")
  const give = (task: ReadonlyArray<unknown>) => chat.send(JSON.stringify(task)).result()
  const text = async (turn: { readonly result: () => Promise<unknown> }) =>
    ((await turn.result()) as Awaited<ReturnType<typeof give>>).finalResponse?.outputText
  return { troupe, chat, booked, give, text, store: kept }
}

type Theatre = Awaited<ReturnType<typeof theatre>>

const answers = (value: unknown) => ({ type: "result", value }) as const

test("PERSON1. a question of a handler waits with its schema, and the call runs again with the answer and its state", async () => {
  const { troupe, chat, booked, give, text } = await theatre()
  const asked = await give(["book"])
  expect(asked.haltedReason).toBe("awaiting_approval")
  expect(asked.pendingApprovals).toEqual([
    {
      toolCall: { id: "c0/~/seats", name: "book", arguments: {} },
      kind: "question",
      reason: "How many seats?",
      options: { schema },
      askedAt: expect.any(Number) as number
    }
  ])
  expect((await troupe.waiting()).waits).toMatchObject([
    {
      chat: "c",
      kind: "question",
      toolCallId: "c0/~/seats",
      tool: "book",
      text: "How many seats?",
      options: { schema }
    }
  ])
  const rows = await chat.approve("c0/~/seats", answers('{"seats":2}')).result()
  expect(rows.pendingApprovals).toMatchObject([{ toolCall: { id: "c0/~/row" }, reason: "Which row?" }])
  expect(await text(chat.approve("c0/~/row", answers("B")))).toContain("booked")
  expect(booked).toEqual([{ seats: { seats: 2 }, of: "first", row: "B" }])
})

test("DEC6. an answer that does not fit the schema of its question is refused, and the call still waits", async () => {
  const { chat, give } = await theatre()
  await give(["book"])
  const refused = await refusal(async () => chat.approve("c0/~/seats", answers({ seats: "two" })))
  expect(refused).toMatchObject({ errors: [{ field: ["decision", "value", "seats"] }] })
  expect(await refusal(async () => chat.approve("c0/~/seats", { type: "allow" }))).toMatchObject({
    errors: [{ field: ["decision", "type"] }]
  })
  expect(chat.getSnapshot()?.context.pendingApprovals).toHaveLength(1)
})

test("PERSON1. a question that nobody answers reaches the handler as a deny", async () => {
  const { chat, give, text } = await theatre()
  await give(["book"])
  expect(await text(chat.approve("c0/~/seats", { type: "deny", reason: "sold out" }))).toContain("not booked: sold out")
})

test("PERSON1. a new program on the same store lists the question, and runs the call with the answer", async () => {
  const first = await theatre()
  await first.give(["book"])
  await first.chat.approve("c0/~/seats", answers({ seats: 2 })).result()
  await first.troupe.stop()
  const { troupe, chat, booked, text } = await theatre(first.store)
  expect((await troupe.waiting()).waits).toMatchObject([{ toolCallId: "c0/~/row" }])
  expect(await text(chat.approve("c0/~/row", answers("B")))).toContain("booked")
  expect(booked).toEqual([{ seats: { seats: 2 }, of: "first", row: "B" }])
})

test("CHAT12. a call whose program ended while it ran with its answers may have run, and does not run again", async () => {
  const began = Promise.withResolvers<void>()
  const first = await theatre(memory(), ({ chat }) => {
    if (chat?.answered === undefined) return chat?.waitFor?.([{ id: "seats", question: "How many seats?" }])
    began.resolve()
    return new Promise(() => {})
  })
  await first.give(["book"])
  const turn = first.chat.approve("c0/~/seats", answers("2"))
  await began.promise
  await first.troupe.stop()
  await refusal(() => turn.result())
  const runs: Array<unknown> = []
  const { chat, text } = await theatre(first.store, ({ chat: handle }) => {
    runs.push(handle?.answered)
    return "booked"
  })
  expect(chat.getSnapshot()?.context.pendingApprovals).toMatchObject([
    { kind: "unknown_outcome", toolCall: { id: "c0" } }
  ])
  expect(runs).toEqual([])
  expect(await text(chat.approve("c0", { type: "allow" }))).toContain("booked")
  expect(runs).toEqual([undefined])
})

test("SUB10. a question of a handler of a sub-agent passes up to the root, with the agent that asks", async () => {
  const { troupe, chat, give, text, store } = await theatre()
  const asked = await give([["book"]])
  const [child] = await childrenIn(store)
  expect(asked.pendingApprovals).toMatchObject([
    { toolCall: { id: "c0/~/c0/~/seats", name: "book" }, kind: "question", agent: "research", chat: child }
  ])
  expect((await troupe.waiting()).waits).toMatchObject([{ agent: { name: "research" }, options: { schema } }])
  await chat.approve("c0/~/c0/~/seats", answers({ seats: 2 })).result()
  expect(await text(chat.approve("c0/~/c0/~/row", answers("B")))).toContain("booked")
})

test("REVIVE2. a call whose handler does not know its outcome waits for a person, or is unknown", async () => {
  const { chat, give } = await theatre()
  const failed = await (await theatre()).give(["fails"])
  expect(failed.thread.messages.find(({ role }) => role === "tool")).toMatchObject({ outcome: "unknown" })
  const asked = await give(["plain"])
  expect(asked.pendingApprovals).toMatchObject([
    { kind: "unknown_outcome", reason: "the line was cut", toolCall: { id: "c0" } }
  ])
  const after = await chat.approve("c0", { type: "deny", reason: "leave it" }).result()
  expect(after.thread.messages.findLast(({ role }) => role === "tool")).toMatchObject({
    outcome: "unknown",
    content: expect.stringContaining("leave it") as string
  })
})

test.each([
  ["an answer", 0, async ({ chat, text }: Theatre) => text(chat.approve("c0/~/seats", answers(2)))],
  ["a cancel", 1, async ({ chat }: Theatre) => chat.cancel()],
  ["a rewind", 1, async ({ troupe }: Theatre) => troupe.rewind("c", 0)],
  ["a deletion", 1, async ({ troupe }: Theatre) => troupe.delete("c")]
] as const)("DROPPED1. after %s, the function of a call that waited was called %d times", async (_, times, end) => {
  let dropped = 0
  const asks = ({ chat }: ToolContext) =>
    chat?.answered === undefined
      ? chat?.waitFor?.([{ id: "seats", question: "How many seats?" }], undefined, () => (dropped += 1))
      : "booked"
  const all = await theatre(memory(), asks)
  await all.give(["book"])
  expect(dropped).toBe(0)
  await end(all)
  expect(dropped).toBe(times)
})
