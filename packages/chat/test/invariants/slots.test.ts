import { expect, test } from "vitest"
import { ok } from "../../src/values/HandlerResult.ts"
import { ToolSlots } from "../../src/async/concurrencyLimit.ts"
import type { Request } from "../../src/model/Request.ts"
import { make } from "../../src/tool/Tool.ts"
import type { LiveTurn } from "../../src/live/liveTurn.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf } from "../double/processes.ts"
import { calls, said, says } from "../double/scripts.ts"
import { timedCalls, timedTools } from "../double/timedTools.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

/** Chats by id, each of which calls `work` as often as its input says, in a Troupe with so many slots. */
const working = async (maxToolCalls: number, amounts: Readonly<Record<string, number>>) => {
  const gates: Array<{ readonly chat: string; readonly end: () => void }> = []
  const started: Array<string> = []
  const work = make({
    name: "work",
    effect: "read",
    handler: (_args, { sessionId = "" }) => {
      started.push(sessionId)
      const { promise, resolve } = Promise.withResolvers<void>()
      gates.push({ chat: sessionId, end: resolve })
      return promise.then(() => ok(1))
    }
  })
  /** Each chat's user says the chat's id; what comes after the calls is an answer. */
  const respond = ({ messages }: Request): Script => {
    const amount = amounts[said(messages.at(-1))]
    if (amount === undefined) return says("done")
    return calls(...Array.from({ length: amount }, () => "work"))
  }
  const adapter = check.fake({ respond })
  const { troupe, system, clock } = await check.troupe({ adapter, tools: [work], maxToolCalls, maxConcurrency: 10_000 })
  const send = async (id: string) => {
    const chat = await troupe.chat(id)
    const turn = chat.send(id)
    await clock.advance(0)
    return { chat, turn }
  }
  /** Ends the oldest running call. */
  const endOne = async () => {
    gates.shift()?.end()
    await clock.advance(0)
  }
  return { troupe, system, clock, started, gates, send, endOne }
}

test("SLOT1 no more calls run than there are slots, over all chats, and all come to run", async () => {
  const { started, gates, send, endOne } = await working(3, { a: 4, b: 4 })
  const turns = [await send("a"), await send("b")]
  expect(gates).toHaveLength(3)
  for (let ended = 1; ended <= 8; ended++) {
    await endOne()
    expect(gates).toHaveLength(Math.min(3, 8 - ended))
  }
  expect(started).toHaveLength(8)
  for (const { turn } of turns) expect((await turn.result()).haltedReason).toBe("completed")
})

test("SLOT2 a chat with a thousand calls does not hold up one with a single call", async () => {
  const { started, gates, send, endOne } = await working(2, { many: 1_000, one: 1 })
  const many = await send("many")
  const one = await send("one")
  await endOne()
  await endOne()
  expect(started).toContain("one")
  while (gates.length > 0) await endOne()
  await Promise.all([many.turn.result(), one.turn.result()])
})

test("SLOT2 chats take turns, each with a slot at a time", async () => {
  const { started, gates, send, endOne } = await working(1, { a: 3, b: 3, c: 3 })
  const all = [await send("a"), await send("b"), await send("c")]
  while (gates.length > 0) await endOne()
  // a waits for its second slot before the others come.
  expect(started.join("")).toBe("aabcabcbc")
  await Promise.all(all.map(({ turn }) => turn.result()))
})

test("SLOT3 a chat that is cancelled, killed or stopped frees its slots, and waits for none", async () => {
  const { started, system, clock, send, troupe } = await working(1, { a: 2, b: 2, c: 2, d: 1 })
  const a = await send("a")
  await send("b")
  const c = await send("c")
  const d = await send("d")
  expect(started).toEqual(["a"])
  void c.chat.cancel()
  const cancelling = a.chat.cancel()
  await clock.run(cancelling)
  await clock.advance(0)
  expect(started).toEqual(["a", "b"])
  await (await troupe.chat("b")).stop()
  await clock.advance(0)
  expect(started).toEqual(["a", "b", "d"])
  expect(processesOf(system, "ToolCall")).toHaveLength(1)
  const stopping = d.chat.stop()
  await clock.run(stopping)
})

test("SLOT3 a batch that halted needs no slot, and the next waiting call gets it", async () => {
  const { system, clock } = check.system()
  const { tools, runs } = timedTools(clock)
  const asked: Readonly<Record<string, ReadonlyArray<string>>> = { a: ["w5a!halt", "w50b", "w10c"], b: ["r5"] }
  const respond = ({ messages }: Request): Script => {
    const words = asked[said(messages.at(-1))]
    if (words === undefined) return says("done")
    const toolCalls = timedCalls(...words).map(({ id, name, arguments: args }) => ({
      toolCall: { id, name, arguments: args ?? {} }
    }))
    return [...toolCalls, { finish: "tool_calls" }]
  }
  const troupe = await Troupe.start({ adapter: check.fake({ respond }), tools, system, maxToolCalls: 2 })
  const turns: Array<LiveTurn> = []
  for (const id of ["a", "b"]) {
    turns.push((await troupe.chat(id)).send(id))
    await clock.advance(0)
  }
  await clock.run(Promise.all(turns.map((turn) => turn.result())))
  expect(runs()).toEqual(["w5a!halt 0-5", "w50b 0-50", "r5 5-10"])
  await troupe.stop()
})

test("SLOT3 what a batch has, was granted or waits for is free when it ends, or needs it no more", () => {
  const slots = new ToolSlots(1)
  const woken: Array<string> = []
  const batch = (name: string) => {
    const line = slots.line(() => woken.push(name))
    return { line, end: () => line.leave() }
  }
  const [a, b, c, d, e] = [batch("a"), batch("b"), batch("c"), batch("d"), batch("e")]
  expect([a, b, c, d, e].map(({ line }) => line.take())).toEqual([true, false, false, false, false])
  b.end()
  a.end()
  expect(woken).toEqual(["c"])
  c.line.rest()
  expect(woken).toEqual(["c", "d"])
  d.end()
  expect(woken).toEqual(["c", "d", "e"])
  expect(e.line.take()).toBe(true)
  e.line.release()
  e.end()
  expect(batch("f").line.take()).toBe(true)
})
