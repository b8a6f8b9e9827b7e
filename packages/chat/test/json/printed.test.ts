import { inspect } from "node:util"
import { expect, test } from "vitest"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { leakCheck } from "../double/leakCheck.ts"

const check = leakCheck()

const print = (value: unknown): string => inspect(value, { compact: true, breakLength: Number.POSITIVE_INFINITY })

test("SHOWN1. a chat, a turn, a snapshot and a Troupe are printed as small objects", async () => {
  const adapter = check.fake({ script: [{ text: "Hi." }, { finish: "stop" }] })
  const troupe: Troupe = await Troupe.start({ adapter, name: "house" })
  const chat = await troupe.chat("c1")
  const turn = chat.send("Hello", { id: "i1" })
  expect(print(turn)).toBe("LiveTurn { id: 'i1', status: 'sent', over: false }")
  await turn.result()
  expect(print(turn)).toBe("LiveTurn { id: 'i1', status: 'delivered', over: true }")
  expect(print(chat)).toBe(`LocalChatRef { id: 'c1', process: '${chat.pid}', phase: 'idle', messages: 2 }`)
  expect(print(chat.getSnapshot())).toBe(
    "ChatSnapshot { status: 'active', phase: 'idle', messages: 2, partial: '', toolCalls: [] }"
  )
  expect(print(troupe)).toMatch(/^Troupe \{ system: System\(house, processes: \d+\), stopped: false \}$/)
  await troupe.stop()
})

test("SHOWN2. The JSON text of a chat, a turn, a snapshot and a Troupe holds the same, and no secret", async () => {
  const adapter = check.fake({ script: [{ text: "Hi." }, { finish: "stop" }] })
  const troupe: Troupe = await Troupe.start({ adapter, name: "house", context: { apiKey: "secret" } })
  const chat = await troupe.chat("c1")
  const turn = chat.send("Hello", { id: "i1" })
  await turn.result()
  const snapshot = chat.getSnapshot()
  const read = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
  expect(read({ turn, chat, snapshot, troupe })).toEqual({
    turn: { id: "i1", status: "delivered", over: true },
    chat: { id: "c1", process: chat.pid?.toString(), phase: "idle", messages: 2 },
    snapshot: { status: "active", phase: "idle", messages: 2, partial: "", toolCalls: [] },
    troupe: { system: "house", stopped: false }
  })
  expect(JSON.stringify({ turn, chat, snapshot, troupe })).not.toContain("secret")
  for (const value of [turn, chat, troupe]) expect(Object.hasOwn(value, "toJSON")).toBe(false)
  await troupe.stop()
})
