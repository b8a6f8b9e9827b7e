import { describe, expect, test } from "vitest"
import * as Engine from "../src/Engine.ts"
import { resolveOptions } from "../src/internal/resolveOptions.ts"
import { Troupe } from "../src/Troupe.ts"
import * as Fake from "../src/Fake.ts"

const resolved = (options: object, engine: Engine.EngineOptions = {}) => resolveOptions(Engine.make(engine), options)

describe("options", () => {
  test("have defaults", () => {
    expect(resolved({})).toMatchObject({
      mode: "auto",
      toolTimeoutMs: 30_000,
      drainMs: 1_000,
      maxTurns: 8,
      onUnknownTool: "error",
      context: {},
      adapterOptions: {}
    })
    expect(resolved({}).requestId).not.toBe(resolved({}).requestId)
  })

  test("D27 unknown keys and bad values are all named", () => {
    const wrong = {
      id: 1,
      mode: "x",
      toolTimeoutMs: -1,
      drainMs: "1",
      maxConcurrency: 0,
      context: null,
      onEvent: 1,
      haltWhen: 1
    }
    expect(() => resolved(wrong)).toThrow(
      expect.objectContaining({
        reason: "invalid_options",
        errors: Object.keys(wrong).map((key) => expect.objectContaining({ field: [key] }) as unknown)
      })
    )
  })

  test("inherited names are unknown too", () => {
    expect(() => resolved({ toString: 1 })).toThrow("unknown_option")
    expect(() => resolved(JSON.parse('{"__proto__": 1}') as object)).toThrow("unknown_option")
  })

  test("an option that is undefined is as one that is absent", () => {
    expect(resolved({ mode: undefined, maxTurns: undefined, toolTimeoutMs: undefined }).mode).toBe("auto")
  })

  test("no deadline at all can be had", () => {
    expect(resolved({ toolTimeoutMs: Number.POSITIVE_INFINITY }).toolTimeoutMs).toBe(Number.POSITIVE_INFINITY)
    expect(() => resolved({ toolTimeoutMs: Number.NaN })).toThrow("toolTimeoutMs")
  })

  test("an engine refuses what it does not know, and what is no tool", () => {
    expect(() => Engine.make({ modle: "x" } as Engine.EngineOptions)).toThrow("modle")
    expect(() => Engine.make({ tools: [{} as never] })).toThrow("tools")
  })

  test("a Troupe refuses options that make no usable chat", async () => {
    const adapter = Fake.make({ script: [] })
    await expect(Troupe.start({})).rejects.toMatchObject({ reason: "missing_adapter" })
    await expect(Troupe.start({ adapter, maxTurns: 0 })).rejects.toMatchObject({ reason: "invalid_options" })
    await expect(Troupe.start({ adapter, nonsense: 1 } as object)).rejects.toMatchObject({ reason: "invalid_options" })
  })
})
