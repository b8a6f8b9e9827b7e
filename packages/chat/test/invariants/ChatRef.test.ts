import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import { ValidationError } from "../../src/errors/ChatError.ts"
import type { ChatSnapshot } from "../../src/view/liveView.ts"
import { user } from "../../src/model/Message.ts"
import { memory } from "../../src/store/Store.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { readAll, said, says, tagsOf } from "../double/scripts.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

const chatting = async (hangs = 0) => {
  let left = hangs
  const adapter = check.fake({
    respond: ({ messages }) => (left-- > 0 ? [{ text: "par" }, { hang: true }] : says(`re ${said(messages.at(-1))}`))
  })
  const made = await check.troupe({ adapter })
  return { adapter, ...made, chat: await made.troupe.chat("c") }
}

const kill = (pid: Parameters<typeof Process.kill>[0] | undefined): void => {
  if (pid === undefined) throw new Error("no process")
  Process.kill(pid)
}

test("REF1 every turn ends: with its result, with chat_died, or run by the next process", async () => {
  const { adapter, chat } = await chatting(1)
  const turns = [chat.send("one"), chat.send("two"), chat.send("three")]
  await until(() => adapter.open === 1)
  kill(chat.pid)
  const ends = await Promise.allSettled(turns.map((turn) => turn.result()))
  expect(
    ends.map((end) => (end.status === "rejected" ? (end.reason as { reason: string }).reason : end.value.haltedReason))
  ).toEqual(["chat_died", "completed", "completed"])
  expect(turns.map((turn) => turn.over)).toEqual([true, true, true])
})

test("REF1 every turn ends when the chat is stopped", async () => {
  const { adapter, chat } = await chatting(1)
  const turns = [chat.send("one"), chat.send("two")]
  await until(() => adapter.open === 1)
  await chat.stop()
  for (const turn of [...turns, chat.send("three"), chat.send("four")]) {
    await expect(turn.result()).rejects.toMatchObject({ reason: "chat_stopped" })
  }
})

test("REF2 turns run in the order they were sent", async () => {
  const { chat } = await chatting()
  const turns = ["a", "b", "c", "d"].map((text) => chat.send(text))
  await Promise.all(turns.map((turn) => turn.result()))
  expect(chat.thread.messages.map(({ content }) => content)).toEqual([
    "a",
    "re a",
    "b",
    "re b",
    "c",
    "re c",
    "d",
    "re d"
  ])
})

test("REF3 observers stay across restarts, until they leave", async () => {
  const { adapter, chat, clock } = await chatting(1)
  const seen: Array<ChatSnapshot["value"]> = []
  const { unsubscribe } = chat.subscribe((snapshot) => seen.push(snapshot.value))
  const turn = chat.send("go")
  await until(() => adapter.open === 1)
  kill(chat.pid)
  await expect(turn.result()).rejects.toThrow()
  await chat.retry().result()
  await clock.advance(100)
  expect(seen.at(-1)).toBe("idle")
  unsubscribe()
  const before = seen.length
  await chat.send("more").result()
  await clock.advance(100)
  expect(seen).toHaveLength(before)
})

test("a cancel while there is no process cancels the turn that waits", async () => {
  const inner = memory()
  const loading = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let loads = 0
  const store: SessionStore = {
    ...inner,
    load: async (id) => {
      await loading[loads++]?.promise
      return inner.load(id)
    }
  }
  const adapter = check.fake({ script: [{ hang: true }] })
  const { troupe } = await check.troupe({ adapter, store })
  loading[0]?.resolve()
  const chat = await troupe.chat("c")
  const [first, second] = [chat.send("one"), chat.send("two")]
  await until(() => adapter.open === 1)
  kill(chat.pid)
  await expect(first.result()).rejects.toMatchObject({ reason: "chat_died" })
  const cancelling = chat.cancel()
  expect(chat.pid).toBeUndefined()
  loading[1]?.resolve()
  await cancelling
  expect((await second.result()).haltedReason).toBe("cancelled")
  expect(adapter.requests).toHaveLength(1)
})

test("retry drops the reply to the last question and asks again", async () => {
  const { adapter, chat } = await chatting()
  await chat.send("one").result()
  const result = await chat.retry().result()
  expect(result.thread.messages.map(({ content }) => content)).toEqual(["one", "re one"])
  expect(adapter.requests[1]?.messages).toEqual(adapter.requests[0]?.messages)
})

test("retry before anything was said is refused", async () => {
  const { chat } = await chatting()
  expect(() => chat.retry()).toThrow(expect.objectContaining({ reason: "nothing_to_retry" }))
})

test("what is no user message is refused at once", async () => {
  const { adapter, chat } = await chatting()
  for (const input of [7, null, { role: "assistant", content: "x" }, { role: "user", content: 7 }]) {
    expect(() => chat.send(input as unknown as string)).toThrow(ValidationError)
  }
  expect(adapter.requests).toEqual([])
  expect((await chat.send(user("fine")).result()).haltedReason).toBe("completed")
})

test("a turn may be read late, by one reader, or by nobody", async () => {
  const { chat } = await chatting()
  const [unread, late] = [chat.send("one"), chat.send("two")]
  await late.result()
  await unread.result()
  expect(tagsOf(await readAll(late)).at(-1)).toBe("chat_completed")
})
