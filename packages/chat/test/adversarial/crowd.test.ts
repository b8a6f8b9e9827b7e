import { expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, hi, readTo, said, says } from "../double/scripts.ts"

const check = leakCheck()

test("a thousand chats at once each get their own answer", async () => {
  const adapter = check.fake({
    respond: ({ messages }) => (messages.length === 1 ? calls("t", "t") : says(said(messages[0])))
  })
  const engine = Engine.make({ adapter, tools: [handling("t", () => Promise.resolve(ok(1)))] })
  const ids = Array.from({ length: 1_000 }, (_, index) => `chat ${index}`)
  const results = await Promise.all(ids.map((content) => Chat.run(engine, [{ role: "user", content }])))
  expect(results.map((result) => result.finalResponse?.outputText)).toEqual(ids)
  expect(adapter.released).toBe(2_000)
})

test("a thousand readers that leave, each at another place, leave nothing behind", async () => {
  const tags = [
    "message_started",
    "tool_call_completed",
    "message_completed",
    "tool_result_encoded",
    "step_completed"
  ] as const
  const adapter = check.fake({ respond: ({ messages }) => (messages.length === 1 ? calls("t", "t") : says("x")) })
  const engine = Engine.make({ adapter, tools: [handling("t", () => Promise.resolve(ok(1)))] })
  const places = Array.from({ length: 1_000 }, (_, index) => tags[index % tags.length] ?? "step_completed")
  await Promise.all(places.map(async (place) => readTo(await Chat.stream(engine, hi), place)))
  expect(adapter.open).toBe(0)
  expect(adapter.requests).toHaveLength(1_000)
})

test("a thousand living chats at once each keep their own thread", async () => {
  const adapter = check.fake({ respond: ({ messages }) => says(`you said ${said(messages.at(-1))}`) })
  const { troupe } = await check.troupe({ adapter })
  const threads = await Promise.all(
    Array.from({ length: 1_000 }, async (_, index) => {
      const chat = await troupe.chat(`c${index}`)
      const turns = [chat.send(`first ${index}`), chat.send(`second ${index}`)]
      await Promise.all(turns.map((turn) => turn.result()))
      return chat.thread.messages.map(({ content }) => content)
    })
  )
  expect(threads).toEqual(
    threads.map((_, index) => [
      `first ${index}`,
      `you said first ${index}`,
      `second ${index}`,
      `you said second ${index}`
    ])
  )
})
