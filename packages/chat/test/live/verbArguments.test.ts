import { describe, expect, test } from "vitest"
import { ValidationError } from "../../src/errors/ChatError.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import { memory } from "../../src/store/Store.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"

const check = leakCheck()

const refusalOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof ValidationError)) return error
    return [error.reason, ...error.errors.map(({ field, reason }) => `${field.join(".")}: ${reason}`)]
  }
  return "nothing"
}

type AnyVerb = (chat: LocalChatRef, options: never) => unknown

const optionsOf: ReadonlyArray<readonly [string, AnyVerb]> = [
  ["send", (chat, options) => chat.send("Hi", options)],
  ["note", (chat, options) => chat.note("Hi", options)],
  ["retry", (chat, options) => chat.retry(options)],
  ["submitToolResults", (chat, options) => chat.submitToolResults({ c0: "yes" }, options)],
  ["approve", (chat, options) => chat.approve("c0", { type: "allow" }, options)],
  ["cancel", (chat, options) => chat.cancel(options)],
  ["setPermissionMode", (chat, options) => chat.setPermissionMode("plan", options)],
  ["attach", (chat, options) => chat.attach(options)]
]

const argumentsOf: ReadonlyArray<readonly [string, AnyVerb]> = [
  ["approve", (chat, id) => chat.approve(id, { type: "allow" })],
  ["submitToolResults", (chat, results) => chat.submitToolResults(results)],
  ["withdraw", (chat, input) => chat.withdraw(input)],
  ["cancelToolCall", (chat, id) => chat.cancelToolCall(id)],
  ["restartToolCall", (chat, id) => chat.restartToolCall(id)],
  ["cancelTask", (chat, task) => chat.cancelTask(task)],
  ["awaitTask", (chat, task) => chat.awaitTask(task)],
  ["setPermissionMode", (chat, mode) => chat.setPermissionMode(mode)],
  ["handoff", (chat, agent) => chat.handoff(agent)],
  ["subscribe", (chat, observer) => chat.subscribe(observer)]
]

const waiting = async () => {
  const manual = make({ name: "manual", manual: true })
  const { troupe } = await check.troupe({
    adapter: check.fake({ scripts: [calls("manual")] }),
    store: memory(),
    tools: [manual]
  })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  return chat
}

describe("OPT2", () => {
  test.each<[string, AnyVerb, string]>([
    [
      "the arguments of a decision",
      (chat) => chat.approve("c0", { type: "allow", arguments: [1] } as never),
      "decision.arguments: must_be_an_object"
    ],
    [
      "the reason of a decision",
      (chat) => chat.approve("c0", { type: "deny", reason: 3 } as never),
      "decision.reason: must_be_a_text"
    ],
    ["answers without the results", (chat) => chat.answer({ input: "Hi" }).result(), "answer({ results })"]
  ])("says what to write in place of %s", async (_, verb, message) => {
    const chat = await waiting()
    await expect((async () => verb(chat, undefined as never))()).rejects.toThrow(message)
  })

  test.each(optionsOf)("`%s` refuses options that are none, and an unknown name", async (_, verb) => {
    const chat = await waiting()
    for (const given of [null, "yes", 3, []]) {
      const refusal = await refusalOf(() => verb(chat, given as never))
      expect(refusal).toEqual(["invalid_options", expect.stringContaining("must_be_an_object")])
    }
    const refusal = await refusalOf(() => verb(chat, { zzz: true } as never))
    expect(refusal).toEqual(["invalid_options", expect.stringMatching(/^zzz: unknown_option; use \w/)])
    expect(chat.getSnapshot()?.value).toBe("awaitingTools")
  })

  test.each(argumentsOf)("`%s` refuses a value that is none of its arguments", async (_, verb) => {
    const chat = await waiting()
    for (const given of [undefined, null, 3, true]) {
      expect(await refusalOf(() => verb(chat, given as never))).toEqual(["invalid_options", expect.any(String)])
    }
    expect(chat.getSnapshot()?.value).toBe("awaitingTools")
  })

  test.each([
    { tools: 3 },
    { tools: [3] },
    { providerOptions: 3 },
    { context: 3 },
    { instructions: 3 },
    { maxTurns: "3" },
    3,
    null
  ])("a turn's own options %j are refused", async (options) => {
    const chat = await waiting()
    const given = { options } as never
    const { troupe } = await check.troupe({ adapter: check.fake({ scripts: [says("Hi")] }) })
    const other = await troupe.chat("d")
    await other.send("go").result()
    for (const verb of [
      () => other.send("Hi", given),
      () => other.retry(given),
      () => chat.approve("c0", { type: "allow" }, given),
      () => chat.submitToolResults({ c0: "yes" }, given)
    ])
      expect(await refusalOf(verb)).toEqual(["invalid_options", expect.any(String)])
  })

  test("a misspelt option names the one that it resembles, and a wrong value says what to write", async () => {
    const chat = await waiting()
    const approve = (options: object) => () => chat.approve("c0", { type: "allow" }, options)
    expect(await refusalOf(approve({ renw: true }))).toEqual(["invalid_options", expect.stringContaining("renew")])
    expect(await refusalOf(approve({ renew: "yes" }))).toEqual(["invalid_options", "renew: must_be_true_or_false"])
    expect(await refusalOf(approve({ options: { maxTurn: 3 } }))).toEqual([
      "invalid_options",
      expect.stringContaining("maxTurns")
    ])
    expect(await refusalOf(() => chat.retry({ model: "m" } as object))).toEqual([
      "invalid_options",
      expect.stringContaining("options")
    ])
    expect(await refusalOf(() => chat.retry({ options: 3 as never }))).toEqual([
      "invalid_options",
      "options: must_be_an_object of options"
    ])
  })
})
