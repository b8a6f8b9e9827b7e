/** Tool results that have no JSON form, or are too large. */
import { DateTime } from "effect"
import { describe, expect, test } from "vitest"
import { ToolError, ValidationError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import { askUser, error, halt, ok } from "../../src/values/HandlerResult.ts"
import { toolResult, user } from "../../src/model/Message.ts"
import * as Session from "../../src/session/Session.ts"
import { make } from "../../src/tool/Tool.ts"
import { runToolCalls } from "../../src/session/ToolRunner.ts"
import { json } from "../../src/values/ToolResultEncoder.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { callThenAnswer, calls, echo, handling, says } from "../double/scripts.ts"

const check = leakCheck()

class Empty {
  readonly #hidden = 1
  at(): number {
    return this.#hidden
  }
}
class Point {
  readonly x = 1
  at(): number {
    return this.x
  }
}
class Money {
  toJSON(): unknown {
    return { euros: 3 }
  }
}
class Silent {
  toJSON(): unknown {
    return undefined
  }
}

const dateOf = (ms: number): Date => {
  const date = DateTime.toDateUtc(DateTime.makeUnsafe(0))
  date.setTime(ms)
  return date
}

const cycle: { self?: unknown } = {}
cycle.self = cycle

/** Each value, and what its refusal says. */
const refused: ReadonlyArray<readonly [name: string, value: () => unknown, says: string]> = [
  ["a Buffer", () => Buffer.from("x"), "binary data"],
  ["a Uint8Array", () => new Uint8Array([1]), "base64 text"],
  ["a Float64Array", () => new Float64Array([1]), "binary data"],
  ["a DataView", () => new DataView(new ArrayBuffer(1)), "binary data"],
  ["an ArrayBuffer", () => new ArrayBuffer(1), "binary data"],
  ["a Map", () => new Map([["a", 1]]), "Object.fromEntries(map)"],
  ["a Set", () => new Set([1]), "[...set]"],
  ["a WeakMap", () => new WeakMap(), "an instance of WeakMap"],
  ["a regular expression", () => /x/, "an instance of RegExp"],
  ["an error", () => new Error("secret"), "return error(reason)"],
  ["a function", () => () => 1, "a function, which has no JSON form"],
  ["a symbol", () => Symbol("s"), "a symbol, which has no JSON form"],
  ["a bigint", () => 1n, "return String(value)"],
  ["an invalid date", () => dateOf(NaN), "an invalid date"],
  ["an instance without fields", () => new Empty(), "an instance of Empty"],
  ["a promise", () => Promise.resolve(1), "await it in the handler"],
  ["headers", () => new Headers({ a: "b" }), "an instance of Headers"]
]

describe("RESULT1 a value without a JSON form is refused, with what to return instead", () => {
  test.each(refused)("%s", (_, value, advice) => {
    expect(() => json.encode(ok(value()))).toThrow(advice)
    expect(() => json.encode({ photo: [value()] })).toThrow(advice)
    expect(() => json.encode({ photo: value() })).toThrow(`The value of "photo" is`)
    if (value() !== undefined) expect(() => json.encode([value()])).toThrow(TypeError)
  })

  test("cycles and values whose toJSON gives none", () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level++) deep = { deep }
    for (const value of [cycle, { in: [cycle] }, deep]) {
      expect(() => json.encode(value)).toThrow(
        /^The result is circular or nested too deep; return plain data without cycles, at most 100 levels deep$/
      )
    }
    expect(() => json.encode(new Silent())).toThrow("toJSON")
  })

  test("what JSON can say is written as JSON writes it", () => {
    const shared = { a: 1 }
    for (const value of [
      dateOf(0),
      { at: dateOf(0) },
      new Point(),
      [new Point(), new Money()],
      { a: undefined, b: [undefined] },
      Object.assign(Object.create(null) as object, { a: 1 }),
      Object.create(null),
      new URL("https://example.org/"),
      { one: shared, two: shared },
      [new Number(1), new String("a"), new Boolean(false)],
      NaN
    ]) {
      expect(json.encode(value)).toBe(JSON.stringify(value))
      expect(json.encode(ok(value))).toBe(JSON.stringify({ ok: value }))
    }
  })

  test("the model reads it, and the call has failed", async () => {
    const { messages } = await runToolCalls(
      [{ id: "c0", name: "t", arguments: {} }],
      [handling("t", () => ok(Buffer.from("png")))]
    )
    expect(messages).toMatchObject([
      {
        outcome: "failed",
        content:
          '{"error":"encoding_failed: The result is binary data, which has no JSON form; return its text, base64 text, or where to find it"}'
      }
    ])
  })

  test("a submitted result and a tool message are checked alike", async () => {
    const pay = make({ name: "pay", manual: true })
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("pay"), says("ok")] }),
      tools: [pay]
    })
    const chat = await troupe.chat("a")
    await chat.send("hi").result()
    expect(() => chat.submitToolResults({ c0: new Map() })).toThrow("Object.fromEntries(map)")
    expect(() => chat.submitToolResults({ c0: [{ type: "text", text: "a", extra: () => 1 }] })).toThrow(ToolError)
    expect(() => toolResult("c0", new Set())).toThrow(ValidationError)
    expect(await chat.submitToolResults({ c0: { paid: 3 } }).result()).toMatchObject({ haltedReason: "completed" })
  })

  test("RESULT3 a submitted error is a failed call, whose text the model reads", async () => {
    const adapter = check.fake({ scripts: [calls("pay"), says("ok")] })
    const { troupe } = await check.troupe({ adapter, tools: [make({ name: "pay", manual: true })] })
    const chat = await troupe.chat("a")
    await chat.send("hi").result()
    await chat.submitToolResults({ c0: new Error("no money") }).result()
    const failed = { role: "tool", toolCallId: "c0", content: '{"error":"no money"}', outcome: "failed" }
    expect(chat.thread.messages[2]).toEqual(failed)
    expect(adapter.requests[1]?.messages[2]).toEqual(failed)
  })
})

const big = (characters: number): string => "x".repeat(characters)

describe("RESULT2 TOUT5 a result larger than `maxToolResultCharacters` fails its call, and the model reads the bound", () => {
  const run = async (result: Parameters<typeof ok>[0], options: Parameters<typeof runToolCalls>[2] = {}) => {
    const call = { id: "c0", name: "t", arguments: {} }
    const { messages, halt: halted } = await runToolCalls([call], [handling("t", () => result as never)], {
      maxToolResultCharacters: 1_000,
      ...options
    })
    return { message: messages[0], halted }
  }
  const text =
    "result_too_large: the result has 1001 characters, and at most 1000 are allowed; ask for less: a page, a part or a summary"

  test.each([
    ["text", ok(big(1_001))],
    ["JSON", ok({ a: big(993) })],
    ["the result of a halt", halt("enough", big(1_001))],
    ["a question", askUser(big(999))]
  ])("%s", async (_, result) => {
    const { message, halted } = await run(result)
    expect(message).toMatchObject({ outcome: "failed", content: JSON.stringify({ error: text }) })
    expect(halted).toBeUndefined()
  })

  test("a result of exactly so many characters counts", async () => {
    expect((await run(ok(big(1_000)))).message).toMatchObject({ outcome: "completed" })
    expect((await run(ok({ a: big(992) }))).message).toMatchObject({ outcome: "completed" })
  })

  test("whatever the encoder returns, for a failure too", async () => {
    const toolResultEncoder = { encode: () => big(1_001) }
    expect((await run(ok(1), { toolResultEncoder })).message?.content).toContain("result_too_large")
    expect((await run(error("why"), { toolResultEncoder })).message?.content).toBe('{"error":"why"}')
  })

  test("what `onToolError` puts in its place is bounded too, and ends the loop", async () => {
    const { message, halted } = await run(error("no"), { onToolError: () => ({ continue: big(1_001) }) })
    expect(halted).toMatchObject({ type: "tool_error", error: { reason: "result_too_large" } })
    expect(message?.content).toContain("result_too_large")
  })

  test("it is 1,000,000 characters without the option", async () => {
    expect((await run(ok(big(1_000_000)), { maxToolResultCharacters: undefined })).message?.outcome).toBe("completed")
    expect((await run(ok(big(1_000_001)), { maxToolResultCharacters: undefined })).message).toMatchObject({
      outcome: "failed",
      content: expect.stringContaining("at most 1000000 are allowed")
    })
  })

  test("a submitted result is refused with the same error, and the chat still waits for it", async () => {
    const pay = make({ name: "pay", manual: true })
    const adapter = check.fake({ scripts: [calls("pay"), says("ok")] })
    const { troupe } = await check.troupe({
      adapter,
      tools: [pay],
      maxToolResultCharacters: 1_000,
      maxFileBytes: 2_000
    })
    const chat = await troupe.chat("a")
    await chat.send("hi").result()
    for (const value of [big(1_001), { a: big(993) }, [{ type: "text", text: big(1_001) }]]) {
      expect(() => chat.submitToolResults({ c0: value })).toThrow("result has 1001 characters")
    }
    const image = (size: number) => [{ type: "image", image: { base64: big(size), mediaType: "image/png" } }]
    expect(() => chat.submitToolResults({ c0: image(4_000) })).toThrow("images and files of the result have 3000 bytes")
    expect(await chat.submitToolResults({ c0: image(400) }).result()).toMatchObject({ haltedReason: "completed" })
  })

  test("a session refuses it alike, and is left as it was", async () => {
    const engine = Engine.make({
      adapter: check.fake({ scripts: [calls("pay"), says("ok")] }),
      tools: [make({ name: "pay", manual: true })]
    })
    const { session } = await Session.start(engine, [user("hi")])
    expect(() => Session.submitToolResult(session, "c0", big(1_000_001))).toThrow(ToolError)
    expect(Session.submitToolResult(session, "c0", big(10)).status).toBe("idle")
  })

  test("in a living chat the turn goes on", async () => {
    const adapter = check.fake({ scripts: callThenAnswer })
    const { troupe } = await check.troupe({ adapter, tools: [echo], maxToolResultCharacters: 5 })
    const result = await (await troupe.chat("a")).send("hi").result()
    expect(result).toMatchObject({ haltedReason: "completed" })
    expect(result.thread.messages[2]).toMatchObject({ role: "tool", outcome: "failed" })
  })
})
