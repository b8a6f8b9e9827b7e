import { expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import type { Conversation, OpenCall } from "../../src/record/Conversation.ts"
import * as Engine from "../../src/options/Engine.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { idempotencyKey } from "../../src/tool/idempotencyKey.ts"
import { assistant } from "../../src/model/Message.ts"
import { memory } from "../double/savingStore.ts"
import * as Thread from "../../src/model/Thread.ts"
import { runToolCalls } from "../../src/session/ToolRunner.ts"
import * as Usage from "../../src/model/Usage.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, hi, says } from "../double/scripts.ts"

const check = leakCheck()

test("KEY1. A call's key is made of its session, its id, its step and its place; without a session and a step, of its request", () => {
  const key = idempotencyKey({ sessionId: "s1", requestId: "r1" }, "c0", { stepId: "one", messageIndex: 2, index: 1 })
  expect(key).toBe("s1/c0/one.1")
  expect(idempotencyKey({ requestId: "r1" }, "c0", { stepId: "one" })).toBe("/c0/one.0")
})

test("KEY3. A call whose step has no id has the key of its place in the thread", () => {
  const key = idempotencyKey({ sessionId: "s1", requestId: "r1" }, "c0", { messageIndex: 2, index: 1 })
  expect(key).toBe("s1/c0/2.1")
  expect(idempotencyKey({ requestId: "r1" }, "c0", {})).toBe("r1/c0/0.0")
})

test("KEY1. No two calls have one key, whatever their ids are made of, and it is printable ASCII", () => {
  const ids = ["", "a", "a/b", "b", "/", "%2F", "%", "é", "\u{1F600}", "a b"]
  const keys = ids.flatMap((sessionId) =>
    ids.flatMap((id) =>
      ["0", "1", "11"].flatMap((stepId) =>
        [0, 1, 11].map((index) => idempotencyKey({ sessionId, requestId: "r" }, id, { stepId, index }))
      )
    )
  )
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.every((key) => /^[!-~]+$/.test(key))).toBe(true)
  expect(idempotencyKey({ requestId: "\uD800" }, "\uDC00", {})).toMatch(/^[!-~]+$/)
})

test("KEY1. Calls of one id have different keys, in a batch and in two batches of the same request", async () => {
  const keys: Array<string> = []
  const tools = [
    handling("t", (_args, { idempotencyKey: key }) => {
      keys.push(key)
      return ok(1)
    })
  ]
  const call = { id: "c0", name: "t", arguments: {} }
  await runToolCalls([call, call], tools, { requestId: "r1" })
  await runToolCalls([call], tools, { requestId: "r1" })
  expect(new Set(keys).size).toBe(3)
  expect(keys.every((key) => key.startsWith("/c0/"))).toBe(true)
})

const pays = calls("pay")

test("KEY1. Calls of two chats of one session id, and of two runs of one session, have different keys", async () => {
  const keys: Array<string> = []
  const pay = handling("pay", (_args, { idempotencyKey: key }) => {
    keys.push(key)
    return ok("paid")
  })
  const adapter = check.fake({
    scripts: [pays, says("done"), pays, says("done"), pays, says("done"), pays, says("done")]
  })
  const { troupe } = await check.troupe({ adapter, tools: [pay], sessionId: "s1" })
  await (await troupe.chat("a")).send("go").result()
  await (await troupe.chat("b")).send("go").result()
  const engine = Engine.make({ adapter, tools: [pay] })
  const named = { sessionId: "s1", requestId: "r1" }
  for (let run = 0; run < 2; run++) await Chat.run(engine, Thread.from(hi), named)
  expect(new Set(keys).size).toBe(4)
})

const inPlace = (open: Conversation["open"]): Conversation => ({
  id: "c",
  thread: Thread.from([...hi, assistant("", [{ id: "c0", name: "pay", arguments: {} }])]),
  usage: Usage.empty,
  running: true,
  pendingToolCalls: [],
  open
})

test.each<OpenCall>([
  { state: "intended" },
  { state: "waiting", kind: "permission", reason: "r", askedAt: 0 },
  { state: "decided", kind: "unknown_outcome", decision: { type: "allow" } }
])("KEY3. A call that an older version stored open keeps its key ($state)", async (open) => {
  const keys: Array<string> = []
  const pay = handling("pay", (_args, { idempotencyKey: key }) => {
    keys.push(key)
    return ok("paid")
  })
  const store = memory()
  await store.save(inPlace({ at: 1, calls: [open] }))
  const adapter = check.fake({ scripts: [says("done"), pays, says("done")] })
  const { troupe } = await check.troupe({ adapter, tools: [pay], store })
  const chat = await troupe.chat("c")
  await (open.state === "decided" ? chat.retry() : chat.approve("c0", { type: "allow" })).result()
  expect(keys).toEqual(["c/c0/1.0"])
  await chat.send("again").result()
  expect(keys[1]).toMatch(/^c\/c0\/.{36}\.0$/)
})

test("KEY2. A call that runs again behind new words keeps the key that its journal has", async () => {
  const keys: Array<string> = []
  const pay = handling("pay", (_args, { idempotencyKey: key }) => {
    keys.push(key)
    return ok("paid")
  })
  const store = memory()
  const open: OpenCall = { state: "decided", kind: "unknown_outcome", decision: { type: "allow" } }
  const halt = { type: "halt", toolCallId: "c1", reason: "enough", result: null } as const
  await store.save(inPlace({ id: "one", at: 1, calls: [open], halt }))
  const adapter = check.fake({ scripts: [says("done")] })
  const { troupe } = await check.troupe({ adapter, tools: [pay], store })
  await (await troupe.chat("c")).send("and now?").result()
  expect(keys).toEqual(["c/c0/one.0"])
})
