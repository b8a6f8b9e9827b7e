import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import { beginningOf } from "../../src/errors/index.ts"
import { wellFormed, wellFormedEach } from "../../src/json/index.ts"
import * as Engine from "../../src/options/Engine.ts"
import { user } from "../../src/model/Message.ts"
import { memory } from "../../src/store/Store.ts"
import type { TroupeOptions } from "../../src/troupe/index.ts"
import type { Decision } from "../../src/record/index.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { askUser, halt } from "../../src/values/HandlerResult.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { says } from "../double/scripts.ts"

const check = leakCheck()

const half = "cut \ud83d"
const mended = "cut \ufffd"

/** The texts that are not well-formed, at any depth. */
const halvesIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value.isWellFormed() ? [] : [value]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, field]) => [...halvesIn(key), ...halvesIn(field)])
}

describe("WELL1. a value", () => {
  test("has U+FFFD for each half of a pair, in texts and keys at any depth", () => {
    expect(wellFormed({ a: [half, { [half]: "\udc00 b" }] })).toEqual({ a: [mended, { [mended]: "\ufffd b" }] })
  })

  test("that is well-formed is the same value, and so are the elements of a list", () => {
    const value = { a: ["😀"], b: new Map([[half, half]]) }
    expect(wellFormed(value)).toBe(value)
    const list = [value, { a: "b" }]
    expect(wellFormedEach(list)).toBe(list)
    const [first, second] = wellFormedEach([value, { a: half }])
    expect(first).toBe(value)
    expect(second).toEqual({ a: mended })
  })

  test("that is cut keeps its pairs", () => {
    expect(beginningOf("a😀b", 2)).toBe("a")
    expect(beginningOf("a😀b", 3)).toBe("a😀")
    expect(beginningOf("a😀", 9)).toBe("a😀")
  })
})

/** A chat with one call of this tool; checks what its thread, its store and its requests have, also after a decision. */
const ended = async (
  input: string,
  first: Script,
  { execute = () => "ok", decision, schema, ...options }: Options = {}
) => {
  const adapter = check.fake({ scripts: [first, says("done")] })
  const store = memory()
  const look = tool({ name: "look", description: `Looks ${half}`, execute })
  const { troupe } = await check.troupe({ adapter, store, tools: [look], maxToolArgumentCharacters: 2_000, ...options })
  const chat = await troupe.chat("c")
  const halves = async () =>
    halvesIn({ messages: chat.thread.messages, requests: adapter.requests, stored: await store.load("c") })
  let { haltedReason } = await chat.send(input, schema === undefined ? {} : { schema }).result()
  expect(await halves()).toEqual([])
  if (decision !== undefined) {
    haltedReason = (await chat.approve("c0", decision).result()).haltedReason
    expect(await halves()).toEqual([])
  }
  return { haltedReason, messages: chat.thread.messages }
}

interface Options extends Pick<TroupeOptions, "hooks" | "permissions"> {
  readonly execute?: (() => unknown) | undefined
  readonly decision?: Decision | undefined
  readonly schema?: Readonly<Record<string, unknown>> | undefined
}

const kept = async (input: string, first: Script, execute?: () => unknown) => {
  const { haltedReason, messages } = await ended(input, first, { execute })
  expect(haltedReason).toBe("completed")
  return messages
}

const calling = (args: string): Script => [
  { toolCall: { id: "c0", name: "look", rawArguments: args } },
  { finish: "tool_calls" }
]

describe("WELL1. half a surrogate pair", () => {
  test("of a user is replaced", async () => {
    const [message] = await kept(half, says("hello"))
    expect(message?.content).toBe(mended)
  })

  test("of a model is replaced in its text, and a pair in two fragments is kept", async () => {
    const [, reply] = await kept("hi", [{ text: "\ud83d" }, { text: "\ude00 " }, { text: half }, { finish: "stop" }])
    expect(reply?.content).toBe(`😀 ${mended}`)
  })

  test("of a model is replaced in the arguments and the name of a call", async () => {
    expect(await kept("hi", calling(`{"a":"cut \\ud83d","\\ud83d":1}`))).toHaveLength(4)
    const named: Script = [{ toolCall: { id: "c0", name: half, arguments: {} } }, { finish: "tool_calls" }]
    expect(await kept("hi", named)).toHaveLength(4)
  })

  test("is not made by the cut of arguments that are too large", async () => {
    const [, reply] = await kept("hi", calling(`{"a":"${"x".repeat(993)}${"😀".repeat(1_000)}"}`))
    expect(JSON.stringify(reply)).toContain("x…")
  })

  test.each<[what: string, execute: () => unknown]>([
    ["text", () => half],
    ["JSON", () => ({ text: half })],
    ["parts", () => [{ type: "text", text: half }]],
    [
      "error",
      () => {
        throw new Error(half)
      }
    ]
  ])("of a tool is replaced in its %s", async (_, execute) => {
    expect(await kept("hi", calling("{}"), execute)).toHaveLength(4)
  })

  const suspend = { ask: () => "suspend" as const }
  const edits = { type: "allow", arguments: { text: half, [half]: 1 } } as const

  test.each<readonly [what: string, reason: string, options: Options]>([
    ["question of a tool", "ask_user", { execute: () => askUser(half, { options: [half] }) }],
    ["halt of a tool", mended, { execute: () => halt(half, { text: half }) }],
    ["halt of a hook", mended, { hooks: { PreToolUse: [() => ({ type: "halt", reason: half })] } }],
    ["denial of a hook", "completed", { hooks: { PreToolUse: [() => ({ type: "deny", reason: half })] } }],
    ["arguments of a hook", "completed", { hooks: { PreToolUse: [() => edits] } }],
    ["arguments of an answer", "completed", { permissions: { ask: () => edits } }],
    ["denial of a person", "completed", { permissions: suspend, decision: { type: "deny", reason: half } }],
    ["halt of a person", mended, { permissions: suspend, decision: { type: "halt", reason: half } }],
    ["arguments of a person", "completed", { permissions: suspend, decision: edits }],
    ["schema of an answer", "completed", { schema: { type: "object", description: half } }]
  ])("is replaced in the %s", async (_, reason, options) => {
    expect((await ended("hi", calling("{}"), options)).haltedReason).toBe(reason)
  })

  test("of a program is replaced in the request, and its thread is unchanged", async () => {
    const adapter = check.fake({ script: says("done") })
    const messages = [user(half)]
    await Chat.run(Engine.make({ adapter, params: {} }), messages, { instructions: half })
    expect(halvesIn(adapter.requests)).toEqual([])
    expect(messages[0]?.content).toBe(half)
  })
})
