import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { EngineOptions } from "../../src/options/engineOptions.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { make } from "../../src/tool/Tool.ts"
import { tool } from "../../src/tool/functionTool.ts"
import * as Fake from "../../src/adapter/Fake.ts"

const resolved = (options: object, engine: EngineOptions = {}) => resolveOptions(Engine.make(engine), options)

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

  test("OPT1 a misspelt option is refused, and the error names the option it resembles", async () => {
    expect(() => resolved({ maxTurn: 1 })).toThrow("maxTurn: unknown_option; did you mean maxTurns?")
    expect(() => resolved({ potato: 1 })).toThrow("potato: unknown_option; parameters of the provider go in")
    const adapter = Fake.make({ script: [] })
    await expect(Troupe.start({ adaptor: adapter } as never)).rejects.toThrow(
      "adaptor: unknown_option; did you mean adapter?"
    )
    await expect(Troupe.start({ adapter, maxWaitingInput: 1 } as never)).rejects.toThrow(
      "did you mean maxWaitingInputs?"
    )
  })

  test("OPT1 without options a Troupe is refused, and the error shows how to start one", async () => {
    const start = Troupe.start as () => Promise<unknown>
    await expect(start()).rejects.toThrow(
      /options: must_be_an_object of options, for example Troupe\.start\(\{ adapter \}\)$/
    )
  })

  test("inherited names are unknown too", () => {
    expect(() => resolved({ toString: 1 })).toThrow("unknown_option")
    expect(() => resolved(JSON.parse('{"__proto__": 1}') as object)).toThrow("unknown_option")
  })

  test.each<readonly [object, string, string]>([
    [{ signal: {} }, "signal", "AbortSignal"],
    [{ toolChoice: "always" }, "toolChoice", "auto, none, required"],
    [{ toolChoice: { name: 1 } }, "toolChoice", "auto, none, required"],
    [{ responseFormat: "json" }, "responseFormat", "json_schema"],
    [{ responseFormat: { type: "json_schema", schema: {} } }, "responseFormat.name", "string"],
    [{ temperature: "hot" }, "temperature", "number"],
    [{ maxTokens: "9" }, "maxTokens", "number"],
    [{ tools: [tool({ name: "t", execute: () => 1 }), { name: "t" }] }, "tools.1", "Tool.make"],
    [{ tools: {} }, "tools", "list"],
    [{ toolExecutor: {} }, "toolExecutor", "execute"],
    [{ toolResultEncoder: { encode: 1 } }, "toolResultEncoder", "encode"],
    [{ schedule: "serial" }, "schedule", "concurrent, effects, reference"],
    [{ haltOrder: "time" }, "haltOrder", "call, observed"],
    [{ providerOptions: [] }, "providerOptions", "object"],
    [{ context: [] }, "context", "object"],
    [{ retry: true }, "retry", "false"],
    [{ retry: { maxAttempts: 1.5 } }, "retry.maxAttempts", "int"],
    [{ retry: { retryOn: ["rate_limited", "no"] } }, "retry.retryOn.1", "Invalid"],
    [{ onRetry: 1 }, "onRetry", "function"],
    [{ budget: { tokens: -1 } }, "budget.tokens", "more than 0"],
    [{ budget: { turns: 1 } }, "budget.turns", "tokens, cost, timeMs"],
    [{ structuredFinalize: "yes" }, "structuredFinalize", "boolean"],
    [{ structuredFinalizeNudge: null }, "structuredFinalizeNudge", "string"]
  ])("%o is refused at its path, with what is allowed there", (options, path, allowed) => {
    expect(() => resolved(options)).toThrow(expect.objectContaining({ reason: "invalid_options" }))
    expect(() => resolved(options)).toThrow(`${path}: `)
    expect(() => resolved(options)).toThrow(allowed)
  })

  test.each<readonly [object, string]>([
    [{ adapter: {} }, "must be an adapter"],
    [{ adapter: null }, "must be an adapter"],
    [{ fallbacks: [{}] }, "must be an adapter, or { adapter, model }"],
    [{ fallbacks: {} }, "must be a list of adapters"],
    [{ retry: "often" }, "must be false, or an object of maxAttempts"],
    [{ retry: { maxAttempts: "5" } }, "maxAttempts"],
    [{ model: 5 }, "must be the name of a model"],
    [{ tools: "t" }, "must be a list of tools"],
    [{ tools: [{ name: "t" }] }, "must be a tool, as tool() and Tool.make make them"],
    [{ toolExecutor: {} }, "must be a tool executor"],
    [{ toolResultEncoder: {} }, "must be a tool result encoder"],
    [{ context: 5 }, "must be an object"],
    [{ params: [] }, "must be an object"]
  ])("an engine of %o is refused, with what is wanted", async (options, requested) => {
    const refused = expect.objectContaining({ _tag: "EngineError", reason: "invalid_engine" }) as unknown
    expect(() => Engine.make(options)).toThrow(refused)
    expect(() => Engine.make(options)).toThrow(requested)
    expect(() => Engine.make(options)).not.toThrow("Invalid input\n")
    await expect(Troupe.start({ adapter: Fake.make({ script: [] }), ...options })).rejects.toThrow(requested)
  })

  test("what belongs to one turn is no option of a Troupe", async () => {
    const adapter = Fake.make({ script: [] })
    for (const wrong of [{ signal: new AbortController().signal }, { requestId: "r" }]) {
      await expect(Troupe.start({ adapter, ...wrong })).rejects.toThrow("is no option of a Troupe")
    }
  })

  test("what is allowed is not refused", () => {
    const { signal } = new AbortController()
    const allowed = {
      signal,
      tools: [tool({ name: "t", manual: true })],
      toolChoice: { name: "t" },
      responseFormat: { type: "json_schema", name: "n", schema: {}, strict: true },
      temperature: 0,
      retry: { maxAttempts: 5, retryOn: ["rate_limited", 529] },
      budget: { tokens: 1, cost: 0.01, timeMs: undefined },
      structuredFinalize: true,
      structuredFinalizeNudge: ""
    }
    expect(resolved(allowed)).toMatchObject({ ...allowed, retry: { maxAttempts: 5, baseDelayMs: 500 } })
  })

  test("an engine refuses fallbacks and retries that are none", () => {
    expect(() => Engine.make({ fallbacks: [{}] } as object)).toThrow("fallbacks")
    expect(() => Engine.make({ retry: { attempts: 1 } } as object)).toThrow("retry")
    const adapter = Fake.make({ script: [] })
    expect(Engine.make({ fallbacks: [adapter, { adapter, model: "m" }], retry: false }).fallbacks).toHaveLength(2)
  })

  test("an option that is undefined is as one that is absent", () => {
    expect(resolved({ mode: undefined, maxTurns: undefined, toolTimeoutMs: undefined }).mode).toBe("auto")
  })

  test("no deadline at all can be had", () => {
    expect(resolved({ toolTimeoutMs: Number.POSITIVE_INFINITY }).toolTimeoutMs).toBe(Number.POSITIVE_INFINITY)
    expect(() => resolved({ toolTimeoutMs: Number.NaN })).toThrow("toolTimeoutMs")
  })

  test("an engine refuses unknown options, and values that are no tool", () => {
    expect(() => Engine.make({ modle: "x" } as EngineOptions)).toThrow("modle")
    expect(() => Engine.make({ tools: [{} as never] })).toThrow("tools")
  })

  test("`maxTurns: Infinity` is no bound, and another value that is no count is refused with what to write", async () => {
    expect(resolved({ maxTurns: Infinity }).maxTurns).toBe(Infinity)
    for (const maxTurns of [0, 1.5, Number.NaN, -Infinity, "2" as never])
      expect(() => resolved({ maxTurns })).toThrow("maxTurns: must be a whole number, 1 or more, or Infinity")
  })

  test("a Troupe refuses options that make no usable chat", async () => {
    const adapter = Fake.make({ script: [] })
    await expect(Troupe.start({})).rejects.toMatchObject({ reason: "missing_adapter" })
    await expect(Troupe.start({ adapter, maxTurns: 0 })).rejects.toMatchObject({ reason: "invalid_options" })
    for (const maxToolCalls of [0, 1.5, Number.NaN, "2" as never])
      await expect(Troupe.start({ adapter, maxToolCalls })).rejects.toThrow("maxToolCalls")
    await expect(Troupe.start({ adapter, nonsense: 1 } as object)).rejects.toMatchObject({ reason: "invalid_options" })
  })
})

describe("what is no engine, no options and no script is refused by name", () => {
  const engine = Engine.make({ adapter: Fake.make({ script: [] }) })

  test.each([null, {}, 7, "engine"])("the engine %j", async (none) => {
    await expect(Chat.run(none as never, [])).rejects.toMatchObject({ reason: "invalid_engine" })
  })

  test.each([null, 7, "abc", []])("the options %j", async (none) => {
    await expect(Chat.run(engine, [], none as never)).rejects.toMatchObject({ reason: "invalid_options" })
  })

  test.each([undefined, null, 7])("a Troupe of %j", async (none) => {
    await expect(Troupe.start(none as never)).rejects.toMatchObject({ reason: "invalid_options" })
  })

  test.each([undefined, null, 7])("a tool of %j", (none) => {
    for (const making of [tool, make]) {
      expect(() => making(none as never)).toThrow(expect.objectContaining({ reason: "invalid_tool" }))
    }
  })

  test.each([undefined, null, {}, { script: [null] }, { script: [{ txet: "x" }] }, { scripts: [["x"]] }])(
    "a fake of %j",
    (none) => {
      expect(() => Fake.make(none as never)).toThrow(expect.objectContaining({ reason: "invalid_options" }))
    }
  )
})
