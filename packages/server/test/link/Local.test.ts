import { Fake, Troupe } from "@troupe/chat"
import type { Adapter } from "@troupe/chat/models"
import { ChatView } from "@troupe/chat/view"
import { expect, onTestFinished, test } from "vitest"
import { WeakCache } from "../../src/link/weakCache.ts"
import { local } from "../../src/link/Local.ts"
import { until, watched } from "../double/linked.ts"

const hi = Fake.make({ script: [{ text: "Hi " }, { text: "there" }, { finish: "stop" }] })

const started = async (adapter: Adapter.Adapter = hi) => {
  const troupe = await Troupe.start({ adapter })
  onTestFinished(() => troupe.stop())
  return { troupe, link: local(troupe) }
}

test("LOCAL1 a chat is watched while somebody is subscribed, and what was said meanwhile is there after", async () => {
  const { troupe, link } = await started()
  const chat = link.chat("c1")
  expect(chat.getState()).toMatchObject({ status: "connecting", view: { messages: [] } })
  const { leave, states } = watched(chat)
  await until(() => chat.getState().status === "open")
  leave()
  const notified = states.length
  await (await troupe.chat("c1")).send("Hello").result()
  expect(states.length).toBe(notified)
  expect(chat.getState().view.messages.length).toBe(2)
})

test("LOCAL1 a subscriber that leaves while the chat is being found is not notified", async () => {
  const { troupe, link } = await started()
  const { leave, states } = watched(link.chat("c1"))
  leave()
  await (await troupe.chat("c1")).send("Hello").result()
  expect(states).toEqual([])
})

test("LOCAL2 the state is the same until something changed, and is the chat's view", async () => {
  const { troupe, link } = await started()
  const chat = link.chat("c1")
  watched(chat)
  await chat.send("Hello")
  await until(() => chat.getState().view.phase === "idle" && chat.getState().view.messages.length === 2)
  expect(chat.getState()).toBe(chat.getState())
  expect(chat.getState().view).toEqual(ChatView.of("c1", (await troupe.chat("c1")).getSnapshot()))
})

test("LOCAL3 a chat that was stopped is closed, and watched again when something is said to it", async () => {
  const { troupe, link } = await started()
  const chat = link.chat("c1")
  watched(chat)
  await until(() => chat.getState().status === "open")
  await (await troupe.chat("c1")).stop()
  expect(chat.getState()).toMatchObject({ status: "closed", error: { reason: "chat_stopped" } })
  await chat.send("Hello")
  await until(() => chat.getState().status === "open" && chat.getState().view.messages.length === 2)
})

test("LOCAL4 a chat that leaves is watched again at once, and its last view stays until the next start has one", async () => {
  const { troupe, link } = await started(Fake.make({ script: [{ text: "Once " }, { text: "upon" }, { hang: true }] }))
  const chat = link.chat("c1")
  const { states } = watched(chat)
  await chat.send("Tell")
  await until(() => chat.getState().view.partial.text === "Once upon")
  const ref = await troupe.chat("c1")
  const before = states.length
  await ref.leave()
  await until(() => chat.getState().status === "open")
  expect(states.slice(before).map(({ status }) => status)).not.toContain("closed")
  expect(new Set(states.slice(before).map(({ view }) => view.phase))).toEqual(new Set(["streaming", "interrupted"]))
  expect(new Set(states.slice(before).map(({ view }) => view.partial.text))).toEqual(new Set(["Once upon"]))
  expect(states.slice(before).find(({ status }) => status === "reconnecting")?.error).toMatchObject({ reason: "moved" })
  expect(chat.getState().error).toBeUndefined()
  expect(await troupe.chat("c1")).not.toBe(ref)
})

test("a verb rejects with the chat's own error, and a troupe that has ended closes its links", async () => {
  const { troupe, link } = await started()
  const chat = link.chat("c1")
  await expect(chat.retry()).rejects.toMatchObject({ _tag: "SessionError", reason: "nothing_to_retry" })
  await expect(chat.submitToolResults({ t1: 1 })).rejects.toMatchObject({ reason: "unknown_tool_call_id" })
  await expect(chat.cancelToolCall("t1")).rejects.toMatchObject({ reason: "tool_call_not_running" })
  await troupe.stop()
  watched(chat)
  await until(() => chat.getState().status === "closed")
  expect(chat.getState().error).toMatchObject({ reason: "troupe_stopped" })
})

test("a link that nobody holds is forgotten", async () => {
  const kept = new WeakCache<{ readonly key: string }>()
  const held = kept.get("held", (key) => ({ key }))
  for (let at = 0; at < 100; at++) kept.get(`key ${at}`, (key) => ({ key }))
  expect(kept.size).toBe(101)
  await until(() => {
    globalThis.gc?.()
    return kept.size === 1
  })
  expect(kept.get("held", (key) => ({ key }))).toBe(held)
})
