import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as Engine from "../../src/options/Engine.ts"
import * as Codec from "../../src/session/Codec.ts"
import { halt, ok } from "../../src/values/HandlerResult.ts"
import { type Message } from "../../src/model/messageShapes.ts"
import { assistant, system, user } from "../../src/model/Message.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { make } from "../../src/tool/Tool.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, handling, hi, only, readAll, says } from "../double/scripts.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

let runs = 0
const fails = handling("fails", () => {
  throw new Error("no")
})
const counts = handling("counts", () => ok(++runs))
const steady = handling("steady", () => ok("same"))
const hangs: Tool = make({ name: "hangs", timeoutMs: 5, handler: () => new Promise(() => {}) })
const strict: Tool = make({
  name: "strict",
  parameters: { type: "object", properties: { x: { type: "number" } }, required: ["x"] },
  handler: () => ok(1)
})
const tools = [echo, fails, counts, hangs, strict, steady]

/** The scripts, then an answer; run in both forms. */
const run = async (scripts: ReadonlyArray<Script>, options: ChatOptions, messages: ReadonlyArray<Message> = hi) => {
  const engine = () => Engine.make({ adapter: check.fake({ scripts: [...scripts, says("done")] }), tools })
  const more = { requestId: "r", onUnknownTool: "continue", maxTurns: 20, ...options } as const
  runs = 0
  const result = await Chat.run(engine(), messages, more)
  runs = 0
  const events = await readAll(await Chat.stream(engine(), messages, more))
  expect(only(events, "chat_completed").result).toEqual(result)
  return result
}

const times = (count: number, script: Script): ReadonlyArray<Script> => Array.from({ length: count }, () => script)

describe("maxMistakes", () => {
  const bad = calls("fails")
  const good = calls("counts")

  test("ends the turn after so many replies in a row whose calls failed", async () => {
    const result = await run(times(5, bad), { maxMistakes: 3 })
    expect(result).toMatchObject({
      haltedReason: "consecutive_mistakes",
      metadata: { maxMistakes: 3, mistakes: 3 }
    })
    expect(result.steps).toHaveLength(3)
  })

  test.each([
    ["a throw", calls("fails")],
    ["a timeout", calls("hangs")],
    ["a tool that does not exist", calls("nowhere")],
    ["wrong arguments", calls("strict")],
    [
      "arguments that are no JSON",
      [{ toolCall: { id: "c0", name: "echo", rawArguments: "{" } }, { finish: "tool_calls" }]
    ]
  ] satisfies ReadonlyArray<readonly [string, Script]>)("counts %s", async (_name, script) => {
    expect((await run(times(3, script), { maxMistakes: 2 })).steps).toHaveLength(2)
  })

  test("a reply is one mistake, however many of its calls failed", async () => {
    const result = await run(times(2, calls("fails", "nowhere", "strict")), { maxMistakes: 3 })
    expect(result.haltedReason).toBe("completed")
  })

  test("any success of a reply ends the count, wherever it stands in it", async () => {
    for (const mixed of [calls("fails", "counts"), calls("counts", "fails")]) {
      const scripts = [bad, bad, mixed, bad, bad]
      expect((await run(scripts, { maxMistakes: 3 })).haltedReason).toBe("completed")
    }
  })

  test("what a person says ends the count; what a retry goes on with does not", async () => {
    const failed = async (more: ReadonlyArray<Message>) => {
      const { thread } = await run(times(2, bad), { maxTurns: 2 })
      return run(times(2, bad), { maxMistakes: 3 }, [...thread.messages, ...more])
    }
    expect((await failed([user("again")])).haltedReason).toBe("completed")
    expect((await failed([])).steps).toHaveLength(1)
  })

  test("0, and no bound, mean none", async () => {
    expect((await run(times(7, bad), { maxMistakes: 0 })).haltedReason).toBe("completed")
    expect((await run(times(7, bad), {})).haltedReason).toBe("completed")
  })

  test("says nothing against a final answer, comes after maxTurns, and before the budget", async () => {
    const spent: Script = [{ usage: { totalTokens: 9 } }, ...bad]
    expect((await run([bad], { maxMistakes: 1, maxTurns: 1 })).haltedReason).toBe("max_turns")
    expect((await run([spent], { maxMistakes: 1, budget: { tokens: 1 } })).haltedReason).toBe("consecutive_mistakes")
    expect((await run([good], { maxMistakes: 1 })).haltedReason).toBe("completed")
  })
})

describe("a living chat", () => {
  const ended = async (script: Script, options: Partial<TroupeOptions> = {}) => {
    const adapter = check.fake({ scripts: [...times(6, script), says("done")] })
    const { troupe } = await check.troupe({ adapter, tools, maxTurns: 20, ...options })
    const { haltedReason, steps, metadata } = await (await troupe.chat("a")).send("go").result()
    return [haltedReason, steps.length, metadata["maxMistakes"] ?? metadata["maxUnproductive"]]
  }

  test("GUARD5. ends a turn after three replies whose calls failed, and after three that changed nothing", async () => {
    expect(await ended(calls("fails"))).toEqual(["consecutive_mistakes", 3, 3])
    expect(await ended(calls("steady"))).toEqual(["no_progress", 4, 3])
    const unset = { maxMistakes: undefined, maxUnproductive: undefined }
    expect(await ended(calls("fails"), unset)).toEqual(["consecutive_mistakes", 3, 3])
    expect(await ended(calls("steady"), unset)).toEqual(["no_progress", 4, 3])
  })

  test("GUARD5. has the bounds that its Troupe sets, and none for 0", async () => {
    const none = { maxMistakes: 0, maxUnproductive: 0 }
    expect(await ended(calls("fails"), { maxMistakes: 5 })).toEqual(["no_progress", 4, 3])
    expect(await ended(calls("steady"), { maxUnproductive: 1 })).toEqual(["no_progress", 2, 1])
    expect((await ended(calls("fails"), none)).slice(0, 2)).toEqual(["completed", 7])
    expect((await ended(calls("steady"), none)).slice(0, 2)).toEqual(["completed", 7])
  })
})

describe("maxUnproductive", () => {
  const same = calls(["echo", { a: 1, b: [2] }])

  test("ends the turn when so many replies changed nothing, with the last messages", async () => {
    const result = await run(times(9, same), { maxUnproductive: 3 })
    expect(result).toMatchObject({ haltedReason: "no_progress", metadata: { maxUnproductive: 3, unproductive: 3 } })
    expect(result.steps).toHaveLength(4)
    expect(result.metadata["snapshot"]).toEqual(result.thread.messages.slice(-12))
  })

  test("at the second reply for a bound of 1; never for 0", async () => {
    expect((await run(times(3, same), { maxUnproductive: 1 })).steps).toHaveLength(2)
    expect((await run(times(9, same), { maxUnproductive: 0 })).haltedReason).toBe("completed")
  })

  test("GUARD3 neither ids, nor the order of calls, nor that of names in arguments make a reply another", async () => {
    const ids = (id: string, args: object): Script => [
      { toolCall: { id, name: "steady", rawArguments: JSON.stringify(args) } },
      { finish: "tool_calls" }
    ]
    const renamed = [ids("a", { x: 1, y: 2 }), ids("b", { y: 2, x: 1 })]
    expect((await run(renamed, { maxUnproductive: 1 })).haltedReason).toBe("no_progress")
    const swapped = [calls(["echo", { n: 1 }], ["echo", { n: 2 }]), calls(["echo", { n: 2 }], ["echo", { n: 1 }])]
    expect((await run(swapped, { maxUnproductive: 1 })).haltedReason).toBe("no_progress")
  })

  test("GUARD3 another result, other calls or another text are progress, spaces are none", async () => {
    const saying = (text: string): Script => [{ text }, ...same]
    const alternating = [saying("a"), saying("b"), saying("a"), saying("b")]
    expect((await run(times(4, calls("counts")), { maxUnproductive: 1 })).haltedReason).toBe("completed")
    expect((await run(alternating, { maxUnproductive: 1 })).haltedReason).toBe("completed")
    const calling = [same, calls(["echo", {}]), same, calls(["echo", {}])]
    expect((await run(calling, { maxUnproductive: 1 })).haltedReason).toBe("completed")
    expect((await run([same, saying(" \n")], { maxUnproductive: 1 })).haltedReason).toBe("no_progress")
    expect((await run([saying("a"), saying("a")], { maxUnproductive: 1 })).haltedReason).toBe("no_progress")
  })

  test("comes last: after mistakes and the budget", async () => {
    const scripts = times(2, calls("fails"))
    expect((await run(scripts, { maxUnproductive: 1, maxMistakes: 2 })).haltedReason).toBe("consecutive_mistakes")
    const spent: Script = [{ usage: { totalTokens: 1 } }, ...same]
    const both = { maxUnproductive: 1, budget: { tokens: 2 } }
    expect((await run([spent, spent], both)).haltedReason).toBe("budget_tokens")
  })

  test("GUARD1 a system message in between is nothing that a person said", async () => {
    const { thread } = await run([same], { maxTurns: 1 })
    const result = await run([same], { maxUnproductive: 1 }, [...thread.messages, system("go on")])
    expect(result.haltedReason).toBe("no_progress")
    const answered = await run([same], { maxUnproductive: 1 }, [...thread.messages, assistant("a"), user("b")])
    expect(answered.haltedReason).toBe("completed")
  })
})

describe("in a living chat", () => {
  test("a guard goes on counting when a turn is retried after the chat died", async () => {
    let saves = 0
    const records = new Map<string, string>()
    const adapter = check.fake({ scripts: [...times(4, calls("fails")), says("done")] })
    const troupe = await Troupe.start({
      adapter,
      tools,
      maxMistakes: 3,
      store: {
        load: (id) => {
          const text = records.get(id)
          return text === undefined ? undefined : Codec.decode("ChatRecord", text)
        },
        save: (record) => {
          if (saves++ < 5) records.set(record.id, Codec.encode("ChatRecord", record))
        },
        delete: () => {}
      }
    })
    const first = await (await troupe.chat("a")).send("go").result()
    expect(first).toMatchObject({ haltedReason: "consecutive_mistakes", steps: [{}, {}, {}] })
    await (await troupe.chat("a")).stop()
    const again = await (await troupe.chat("a")).retry().result()
    expect(again).toMatchObject({ haltedReason: "consecutive_mistakes", steps: [{}] })
    await troupe.stop()
  })
})

test.each(["consecutive_mistakes", "no_progress"])("%s is no reason for a handler", async (reason) => {
  const ends = handling("ends", () => halt(reason))
  const engine = Engine.make({ adapter: check.fake({ scripts: [calls("ends"), says("done")] }), tools: [ends] })
  expect((await Chat.run(engine, hi)).haltedReason).toBe("completed")
})

test.each([
  ["maxMistakes", -1],
  ["maxMistakes", 1.5],
  ["maxUnproductive", Infinity]
])("%s of %s is refused", async (option, value) => {
  await expect(run([], { [option]: value })).rejects.toMatchObject({ reason: "invalid_options" })
})
