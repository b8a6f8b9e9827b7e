import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, readAll, said, says, tagsOf } from "../double/scripts.ts"
import { childrenIn, delegates, delegation } from "../double/subagents.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import type { Event } from "../../src/events/Event.ts"
import { innermost, joined } from "../../src/events/index.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import { tool } from "../../src/tool/functionTool.ts"
import * as ChatView from "../../src/view/ChatView.ts"

const check = leakCheck()

const shown = { tool: { events: true } }

type ChildEvent = Extract<Event, { readonly type: "child_event" }>

const childEvents = (events: ReadonlyArray<Event>): ReadonlyArray<ChildEvent> =>
  events.filter((event) => event.type === "child_event")

/** The places of the events with this tag, or of this call. */
const places = (events: ReadonlyArray<Event>, isMeant: (event: Event) => boolean): ReadonlyArray<number> =>
  events.flatMap((event, place) => (isMeant(event) ? [place] : []))

test("NEST1 with events the stream of the parent has each event of the child, between the reply and the result", async () => {
  const { troupe, store } = await delegates(check, () => says("found"), shown)
  const events = await readAll((await troupe.chat("c")).send("please !dig"))
  const [chat] = await childrenIn(store)
  const nested = childEvents(events)
  expect(nested.map(({ event }) => event.type)).toEqual([
    "message_started",
    "text_delta",
    "text_completed",
    "message_completed",
    "step_completed",
    "chat_completed"
  ])
  for (const event of nested) expect(event).toMatchObject({ toolCallId: "c0", chat, agent: "research" })
  const replied = events.findIndex(({ type }) => type === "message_completed")
  const answered = events.findIndex(({ type }) => type === "tool_execution_started")
  const found = places(events, ({ type }) => type === "child_event")
  expect(found[0]).toBeGreaterThan(replied)
  expect(found.at(-1)).toBeLessThan(answered)
  expect(tagsOf(events).at(-1)).toBe("chat_completed")
})

test("NEST1 without events the stream of the parent has none of the child", async () => {
  const { troupe } = await delegates(check, () => says("found"))
  expect(childEvents(await readAll((await troupe.chat("c")).send("please !dig")))).toEqual([])
})

test("NEST1 the stream has no event of a child whose call is over, when the turn goes on", async () => {
  const { troupe } = await delegates(check, () => says("found"), shown)
  const events = await readAll((await troupe.chat("c")).send("please !dig and !dive"))
  for (const id of ["c0", "c1"]) {
    const over = events.findIndex((event) => event.type === "tool_execution_completed" && event.id === id)
    const last = places(events, (event) => event.type === "child_event" && event.toolCallId === id).at(-1)
    expect(last).toBeLessThan(over)
  }
})

test("NEST1 the events of a child's child are nested in those of the child", async () => {
  const own = subagent("research", { maxDepth: 2, events: true })
  const { adapters, options } = delegation(check, ({ messages }) => {
    const last = said(messages.at(-1))
    return last === "dig" ? calls(["research", { input: "deeper" }]) : says(last === "deeper" ? "deep" : `got ${last}`)
  })
  const { troupe } = await check.troupe({
    ...options,
    tools: [own],
    agents: { research: { adapter: adapters.research, tools: [own] } }
  })
  const events = await readAll((await troupe.chat("c")).send("please !dig"))
  const twice = childEvents(events).flatMap(({ event }) => (event.type === "child_event" ? [event] : []))
  expect(twice.map(({ event }) => event.type)).toContain("chat_completed")
  expect(twice.map(innermost).find(({ type }) => type === "text_completed")).toMatchObject({ text: "deep" })
})

test("NEST2 a call shows the text, the running calls and the end of its child", async () => {
  const gate = Promise.withResolvers<string>()
  const look = tool({ name: "look", execute: () => gate.promise })
  const research = {
    adapter: check.fake({
      respond: ({ messages }) =>
        messages.at(-1)?.role === "user"
          ? [{ text: "let me look" }, ...calls("look")]
          : [{ text: "hm" }, { hang: true }]
    }),
    tools: [look]
  }
  const { troupe, store } = await delegates(check, () => [], { ...shown, agents: { research } })
  const chat = await troupe.chat("c")
  const seen: Array<unknown> = []
  const { unsubscribe } = chat.subscribe((snapshot) => void seen.push(snapshot.context.toolCalls[0]?.child))
  const turn = chat.send("please !dig")
  const shownChild = () => chat.getSnapshot()?.context.toolCalls[0]?.child
  await until(() => shownChild()?.toolCalls[0]?.status === "running")
  const [id] = await childrenIn(store)
  expect(shownChild()).toMatchObject({ chat: id, agent: "research", toolCalls: [{ name: "look", status: "running" }] })
  const view = ChatView.of("c", chat.getSnapshot())
  expect(view.toolCalls[0]).toMatchObject({ name: "research", child: { toolCalls: [{ process: expect.any(String) }] } })
  gate.resolve("seen")
  await until(() => shownChild()?.text === "hm")
  const later = ChatView.of("c", chat.getSnapshot(), view)
  expect(ChatView.apply(view, ChatView.patch(view, later) ?? {})).toEqual(later)
  await chat.cancel()
  await turn.result()
  expect(chat.getSnapshot()?.context.toolCalls).toEqual([])
  unsubscribe()
})

test("NEST2 a chat that shows no child of a call has none in its view", async () => {
  const { troupe } = await delegates(check, () => [{ text: "hm" }, { hang: true }])
  const chat = await troupe.chat("c")
  const turn = chat.send("please !dig")
  await until(() => Array.from(livingChatsOf(troupe).values()).some(({ chat: one }) => one.state.text === "hm"))
  expect(chat.getSnapshot()?.context.toolCalls[0]).not.toHaveProperty("child")
  await chat.cancel()
  await turn.result()
})

test("NEST1 a child that crashes is shown again, with the events of its next process", async () => {
  let asked = 0
  const { troupe } = await delegates(
    check,
    () => ((asked += 1) === 1 ? [{ text: "one" }, { hang: true }] : says("two")),
    shown
  )
  const chat = await troupe.chat("c")
  const turn = chat.send("please !dig")
  const child = () => Array.from(livingChatsOf(troupe).values()).find(({ chat: one }) => one.id !== "c")?.chat
  await until(() => child()?.state.text === "one")
  const { pid } = child() ?? {}
  if (pid !== undefined) Process.exit(pid, "kill")
  const events = await readAll(turn)
  const texts = childEvents(events).flatMap(({ event }) => (event.type === "text_delta" ? [event.delta] : []))
  expect(texts).toEqual(["one", "two"])
})

test("NEST1 unread fragments of one child are one event, and those of two stay apart", () => {
  const of = (chat: string, delta: string): Event => ({
    type: "child_event",
    toolCallId: "c0",
    chat,
    agent: "research",
    event: { type: "text_delta", id: null, delta }
  })
  expect(joined(of("a", "one "), of("a", "two"))).toEqual(of("a", "one two"))
  expect(joined(of("a", "one "), of("b", "two"))).toBeUndefined()
  expect(joined({ type: "text_delta", id: null, delta: "one " }, of("a", "two"))).toBeUndefined()
})

test("NEST1 the stream has no event of the child of a background task, whose call is over", async () => {
  const { troupe, store } = await delegates(check, () => says("found"), { tool: { events: true, background: true } })
  const chat = await troupe.chat("c")
  const events = await readAll(chat.send("please !dig"))
  expect(tagsOf(events)).toContain("tool_execution_completed")
  expect(childEvents(events)).toEqual([])
  const [task] = await chat.tasks()
  if (task !== undefined) await chat.awaitTask(task.id)
  expect(await childrenIn(store)).toHaveLength(1)
})
