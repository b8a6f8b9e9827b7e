import { describe, expect, test } from "vitest"
import { AdapterError, ToolError } from "../../src/errors/ChatError.ts"
import { error, ok } from "../../src/values/HandlerResult.ts"
import { json } from "../../src/values/ToolResultEncoder.ts"
import { describe as inWords, errorText } from "../../src/values/errorText.ts"

describe("the JSON encoder", () => {
  test.each([
    ["", ""],
    ["text", "text"],
    [ok("x"), '{"ok":"x"}'],
    [ok(undefined), '{"ok":null}'],
    [ok({ a: [1] }), '{"ok":{"a":[1]}}'],
    [error("no"), '{"error":"no"}'],
    [error({ code: 7 }), '{"error":"{\\"code\\":7}"}'],
    [undefined, "null"],
    [null, "null"],
    [1.5, "1.5"],
    [true, "true"],
    [[1, "a"], '[1,"a"]'],
    [{ ok: 1 }, '{"ok":1}']
  ])("39 %j is written as %s, each time", (value, text) => {
    expect(json.encode(value)).toBe(text)
    expect(json.encode(value)).toBe(text)
  })

  test("39 what JSON cannot say is refused", () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    for (const value of [1n, cycle, () => 1, Symbol("s"), ok(() => 1)]) expect(() => json.encode(value)).toThrow()
  })
})

describe("the text of a failure", () => {
  test("D16 is a short reason and a message, never a dump", () => {
    const failure = new ToolError("handler_raised", { message: "it broke", cause: new Error("secret") })
    expect(errorText(failure)).toBe('{"error":"handler_raised: it broke"}')
    expect(errorText(new AdapterError("timeout"))).toBe('{"error":"timeout: The model request failed: timeout"}')
    expect(errorText(new Error("plain"))).toBe('{"error":"plain"}')
    expect(errorText(new TypeError(""))).toBe('{"error":"TypeError"}')
  })

  test("describes a value without a JSON form", () => {
    const cycle: { readonly code: number; self?: unknown } = { code: 7 }
    cycle.self = cycle
    expect(inWords(cycle)).toBe('{"code":7,"self":"[circular]"}')
    expect(inWords({ total: 1n })).toBe('{"total":{"$bigint":"1"}}')
    const raising = {
      code: 7,
      inner: {
        get x(): never {
          throw new Error("x")
        }
      }
    }
    expect(inWords(raising)).toBe('{"code":7,"inner":"[unreadable]"}')
  })

  test("has no more than 2,000 characters, and says how many it leaves out", () => {
    const said = JSON.parse(errorText(new Error("x".repeat(5_000)))) as { readonly error: string }
    expect(said.error).toBe(`${"x".repeat(2_000)}… (3000 characters more)`)
    expect(JSON.parse(json.encode(error("x".repeat(2_001))))).toEqual({
      error: `${"x".repeat(2_000)}… (1 characters more)`
    })
    expect(json.encode("x".repeat(5_000))).toHaveLength(5_000)
    const halved = JSON.parse(errorText(`${"x".repeat(1_999)}😀`)) as { readonly error: string }
    expect(halved.error).toBe(`${"x".repeat(1_999)}… (2 characters more)`)
  })

  test("has no places of a stack", () => {
    const staged = "boom\nand so\n    at foo (/home/file.ts:1:2)\n    at bar"
    expect(errorText(new Error(staged))).toBe('{"error":"boom\\nand so"}')
    expect(errorText(new ToolError("handler_raised", { message: `t raised: ${staged}` }))).toBe(
      '{"error":"handler_raised: t raised: boom\\nand so"}'
    )
    expect(errorText(new RangeError("    at foo"))).toBe('{"error":"RangeError"}')
  })

  test("is total", () => {
    const unspeakable: unknown = Object.assign(Object.create(null), { big: 1n })
    for (const value of [undefined, null, 1n, Symbol("s"), () => 1, unspeakable]) {
      expect(typeof inWords(value)).toBe("string")
      expect(() => JSON.parse(errorText(value)) as unknown).not.toThrow()
    }
  })
})
