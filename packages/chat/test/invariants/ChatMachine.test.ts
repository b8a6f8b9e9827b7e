import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import type { Conversation } from "../../src/record/Conversation.ts"
import type { Event } from "../../src/events/Event.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import { user } from "../../src/model/Message.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, callThenAnswer, echo, handling, hi, says, tagsOf } from "../double/scripts.ts"
import { type Parts, startChat, turnOf } from "../double/stepping.ts"
import type { Turn } from "../../src/inbox/turnData.ts"

const check = leakCheck()

const driven = (turn: Turn): ReadonlyArray<Event> => {
  const events: Array<Event> = []
  turn.outlet.drive((event) => events.push(event))
  return events
}

test("CHAT1 one turn runs at a time, and those that wait are run in order", async () => {
  const { system, clock } = check.system()
  const parts: Parts = { adapter: check.fake({ respond: ({ messages }) => says(String(messages.length)) }) }
  const { pid, send, snapshot } = startChat(system, parts)
  const turns = ["one", "two", "three"].map((text) => turnOf(parts, [user(text)]))
  const events = turns.map(driven)
  for (const turn of turns) send(turn)
  await clock.advance(0)
  expect(snapshot().value).toBe("idle")
  expect(snapshot().context.record.thread.messages.map(({ content }) => content)).toEqual([
    "one",
    "1",
    "two",
    "3",
    "three",
    "5"
  ])
  expect(events.map((seen) => tagsOf(seen).at(-1))).toEqual(["chat_completed", "chat_completed", "chat_completed"])
  Process.kill(pid)
})

test("CHAT2 CHAT12 the beginning is committed before the first request, the intent of a call before it runs, each step before the next, the end before `chat_completed`", async () => {
  const { system, clock } = check.system()
  const order: Array<string> = []
  const fake = check.fake({ scripts: callThenAnswer })
  const adapter = {
    ...fake,
    stream: (...args: Parameters<typeof fake.stream>) => {
      order.push(`request ${args[0].messages.length}`)
      return fake.stream(...args)
    }
  }
  const parts: Parts = { adapter, tools: [echo] }
  const commit = async ({ thread, running, lastHaltedReason }: Conversation) => {
    await Promise.resolve()
    order.push(`commit ${thread.messages.length} ${running} ${lastHaltedReason}`)
  }
  const { pid, send } = startChat(system, parts, { commit })
  const turn = turnOf(parts, hi)
  turn.outlet.drive((event) => {
    if (event.type === "chat_completed") order.push("end")
  })
  send(turn)
  await clock.advance(0)
  expect(order).toEqual([
    "commit 1 true undefined",
    "request 1",
    "commit 2 true undefined",
    "commit 3 true undefined",
    "request 3",
    "commit 4 false completed",
    "end"
  ])
  Process.kill(pid)
})

test("CHAT3 every turn ends with one `chat_completed`, cancelled, refused and failed ones too", async () => {
  const { system, clock } = check.system()
  const scripts = [
    says("x"),
    [{ hang: true } as const],
    [{ preflightError: "authentication_failed" } as const],
    [{ error: "timeout" } as const]
  ]
  const parts: Parts = { adapter: check.fake({ scripts }) }
  const { pid, send } = startChat(system, parts)
  for (let index = 0; index < 5; index++) {
    const turn = turnOf(parts, hi)
    const events = driven(turn)
    send(turn)
    await clock.advance(0)
    Process.send(pid, { type: "turn.cancel" })
    await clock.advance(0)
    expect(tagsOf(events).filter((tag) => tag === "chat_completed")).toHaveLength(1)
    expect(tagsOf(events).at(-1)).toBe("chat_completed")
  }
  Process.kill(pid)
})

test("CHAT4 a question stays pending until a turn after it ended otherwise than by cancel", async () => {
  const { system, clock } = check.system()
  const scripts = [calls("ask"), [{ hang: true } as const], says("thanks")]
  const parts: Parts = { adapter: check.fake({ scripts }), tools: [handling("ask", () => askUser("which?"))] }
  const { pid, send, snapshot } = startChat(system, parts)
  const sendTurn = async (cancel: boolean) => {
    const turn = turnOf(parts, hi)
    driven(turn)
    send(turn)
    await clock.advance(0)
    if (cancel) Process.send(pid, { type: "turn.cancel" })
    await clock.advance(0)
    return snapshot()
  }
  expect(await sendTurn(false)).toMatchObject({
    value: "awaitingUser",
    context: { record: { pendingQuestion: { question: "which?" } } }
  })
  expect(await sendTurn(true)).toMatchObject({
    value: "awaitingUser",
    context: { record: { pendingQuestion: { question: "which?" } } }
  })
  expect((await sendTurn(false)).context.record.pendingQuestion).toBeUndefined()
  expect(snapshot().value).toBe("idle")
  Process.kill(pid)
})

test("CHAT5 started with a turn of its own, the machine runs that one and is done with its result", async () => {
  const { system, clock } = check.system()
  const parts: Parts = { adapter: check.fake({ scripts: callThenAnswer }), tools: [echo] }
  const turn = turnOf(parts)
  const { pid, output } = startChat(system, parts, { turn, thread: { messages: hi } })
  const events = driven(turn)
  await clock.advance(0)
  expect(output()).toMatchObject({ type: "completed", result: { haltedReason: "completed", steps: [{}, {}] } })
  expect(Process.exitReason(pid)).toBe("normal")
  expect(tagsOf(events).at(-1)).toBe("chat_completed")
})

test("CHAT5 whose first request is refused, it is done with the refusal, and says nothing", async () => {
  const { system, clock } = check.system()
  const parts: Parts = { adapter: check.fake({ script: [{ preflightError: "authentication_failed" }] }) }
  const turn = turnOf(parts)
  const events = driven(turn)
  const { output } = startChat(system, parts, { turn, thread: { messages: hi } })
  await clock.advance(0)
  expect(output()).toMatchObject({ type: "refused", error: { reason: "authentication_failed" } })
  expect(events).toEqual([])
})

test("a chat lives on from its record: its thread, its usage, what it waits for", async () => {
  const { system } = check.system()
  const call = { id: "c0", name: "m", arguments: {} }
  const record: Conversation = {
    id: "c",
    thread: { messages: hi },
    usage: { inputTokens: 3 },
    running: false,
    pendingToolCalls: [call]
  }
  const { pid, snapshot } = startChat(system, { adapter: check.fake({ script: [] }) }, { record })
  expect(snapshot()).toMatchObject({
    value: "awaitingTools",
    context: { record: { usage: { inputTokens: 3 }, thread: { messages: hi } } }
  })
  Process.kill(pid)
})

test("usage of all turns adds up", async () => {
  const { system, clock } = check.system()
  const parts: Parts = { adapter: check.fake({ script: says("x"), usage: { inputTokens: 2, outputTokens: 1 } }) }
  const { pid, send, snapshot } = startChat(system, parts)
  for (let index = 0; index < 3; index++) {
    const turn = turnOf(parts, hi)
    driven(turn)
    send(turn)
  }
  await clock.advance(0)
  expect(snapshot().context.record.usage).toEqual({ inputTokens: 6, outputTokens: 3 })
  Process.kill(pid)
})
