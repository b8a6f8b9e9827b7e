import type { StandardSchemaV1 } from "@standard-schema/spec"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import * as z from "zod"
import { ValidationError } from "../../src/errors/ChatError.ts"
import { error, ok } from "../../src/values/HandlerResult.ts"
import type { Returned } from "../../src/tool/Returned.ts"
import { make } from "../../src/tool/Tool.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { Parameters, Tool, ToolContext } from "../../src/tool/toolContract.ts"

const context: ToolContext = {
  context: {},
  sessionId: undefined,
  requestId: undefined,
  toolCall: { id: "c0", name: "t", arguments: {} },
  signal: new AbortController().signal,
  progress: () => {},
  idempotencyKey: "s1/c0/0.0",
  setPermissionMode: async () => {}
}

const handled = async (made: Tool, args: Record<string, unknown> = {}): Promise<Returned> => {
  const returned = made.handler?.(args, context)
  if (returned === undefined) throw new Error("no handler")
  return Effect.isEffect(returned) ? Effect.runPromise(returned) : returned
}

/** A Standard Schema that is no zod schema and cannot say itself as JSON Schema. */
const evenNumber: StandardSchemaV1<unknown, { readonly n: number }> = {
  "~standard": {
    version: 1,
    vendor: "even",
    validate: async (value) => {
      const n = (value as { readonly n?: unknown }).n
      return typeof n === "number" && n % 2 === 0
        ? { value: { n } }
        : { issues: [{ message: "not even", path: [{ key: "n" }] }] }
    }
  }
}

describe("a tool's parameters", () => {
  test("a zod schema is shown as JSON Schema and checks arguments", async () => {
    const made = tool({
      name: "add",
      parameters: z.object({ a: z.number(), b: z.number().default(1) }),
      execute: ({ a, b }) => a + b
    })
    expect(made.schema).toMatchObject({ type: "object", properties: { a: { type: "number" } } })
    expect(made.schema).not.toHaveProperty("$schema")
    expect(await made.parse({ a: 1 })).toEqual({ valid: true, arguments: { a: 1, b: 1 } })
    expect(await made.parse({ a: "1" })).toMatchObject({ valid: false, issues: [{ path: "a" }] })
  })

  test("nested issues are named by their path", async () => {
    const made = make({ name: "t", parameters: z.object({ list: z.array(z.object({ x: z.number() })) }) })
    expect(await made.parse({ list: [{ x: 1 }, {}] })).toMatchObject({ valid: false, issues: [{ path: "list.1.x" }] })
  })

  test("a JSON Schema is shown as it is and checks arguments", async () => {
    const parameters = { type: "object", properties: { x: { type: "integer" } }, required: ["x"] }
    const made = make({ name: "t", parameters })
    expect(made.schema).toEqual(parameters)
    expect(await made.parse({ x: 1 })).toEqual({ valid: true, arguments: { x: 1 } })
    expect(await made.parse({})).toMatchObject({ valid: false })
  })

  test("a JSON Schema that says what cannot be read checks nothing", async () => {
    const made = make({
      name: "t",
      parameters: { type: "object", unevaluatedProperties: { nonsense: [] } }
    })
    expect((await made.parse({ anything: 1 })).valid).toBe(true)
  })

  test("no parameters is an object of none", async () => {
    const made = make({ name: "t" })
    expect(made.schema).toEqual({ type: "object", properties: {} })
    expect(await made.parse({ x: 1 })).toMatchObject({ valid: true })
  })

  test("a Standard Schema that cannot say itself needs a jsonSchema, and may check later", async () => {
    expect(() => make({ name: "t", parameters: evenNumber })).toThrow("jsonSchema")
    const made = make({ name: "t", parameters: evenNumber, jsonSchema: { type: "object" } })
    expect(made.schema).toEqual({ type: "object" })
    expect(await made.parse({ n: 2 })).toEqual({ valid: true, arguments: { n: 2 } })
    expect(await made.parse({ n: 1 })).toEqual({ valid: false, issues: [{ path: "n", message: "not even" }] })
  })
})

describe("making a tool", () => {
  test.each(["", "a b", "x".repeat(65), "auto", "none", "required"])("160 the name %j is refused", (name) => {
    expect(() => make({ name })).toThrow(ValidationError)
  })

  test("161 a manual flag that is no boolean is refused", () => {
    expect(() => make({ name: "t", manual: null as unknown as boolean })).toThrow(ValidationError)
  })

  test("what a plain function returns is its result, from a value, a promise and an effect", async () => {
    const parameters: Parameters = {}
    for (const execute of [() => 7, () => Promise.resolve(7), () => Effect.succeed(7)]) {
      expect(await handled(tool({ name: "t", parameters, execute }))).toEqual({ type: "ok", value: 7 })
    }
    expect(await handled(tool({ name: "t", execute: () => undefined }))).toEqual({ type: "ok", value: undefined })
  })

  test("an outcome that a plain function returns is that outcome; a look-alike is a value", async () => {
    expect(await handled(tool({ name: "t", execute: () => error("no") }))).toEqual({ type: "error", reason: "no" })
    const alike = { type: "error", reason: "no" }
    expect(await handled(tool({ name: "t", execute: () => alike }))).toEqual({ type: "ok", value: alike })
    expect(await handled(make({ name: "t", handler: () => ok(1) }))).toEqual({ type: "ok", value: 1 })
  })
})

test("a manual tool needs no function, and has no handler", () => {
  const asked = tool({ name: "approve", parameters: z.object({ amount: z.number() }), manual: true })
  expect([asked.manual, asked.handler]).toEqual([true, null])
})

describe("what a tool's calls touch", () => {
  test("a tool writes, and has no key, unless it says otherwise", () => {
    expect(tool({ name: "t", execute: () => 1 })).toMatchObject({ effect: "write", key: undefined })
    const key = ({ path }: { readonly path: string }) => path
    const reading = tool({
      name: "t",
      effect: "read",
      parameters: z.object({ path: z.string() }),
      key,
      execute: () => 1
    })
    expect(reading.effect).toBe("read")
    expect(reading.key?.({ path: "a" })).toBe("a")
    expect(tool({ name: "t", manual: true, effect: "read" }).effect).toBe("read")
  })

  test("another effect, or a key that is no function, is refused", () => {
    expect(() => make({ name: "t", effect: "delete" as never })).toThrow("effect: must_be_one_of read, write")
    expect(() => make({ name: "t", key: "path" as never })).toThrow("key: must_be_a_function")
  })
})

const run = () => 1

test.each<readonly [object, string]>([
  [{ timoutMs: 5 }, "timoutMs: unknown; did you mean timeoutMs?"],
  [{ excute: run }, "excute: unknown; did you mean execute?"],
  [{ nonsense: undefined }, "nonsense: unknown; use execute, name, description"],
  [{ execute: "run" }, "execute: must_be_a_function"],
  [{ execute: null }, "execute: must_be_a_function"],
  [
    { execute: (_a: unknown, _b: unknown, _c: unknown) => 1 },
    "execute: must_be_a_function of the arguments and the context"
  ],
  [{ execute: undefined }, "execute: must_be_a_function"],
  [{ description: 5 }, "description: not_a_string"],
  [{ parameters: 5 }, "parameters: must_be a zod schema"],
  [{ parameters: ["a"] }, "parameters: must_be a zod schema"],
  [{ jsonSchema: "{}" }, "jsonSchema: must_be_an_object"],
  [{ metadata: 1 }, "metadata: must_be_an_object"],
  [{ manual: 1 }, "manual: not_a_boolean"],
  [{ timeoutMs: NaN }, "timeoutMs: must_be_milliseconds"],
  [{ effect: "reads" }, "effect: must_be_one_of read, write"],
  [{ name: undefined }, "name: invalid_format; use 1 to 64 letters, digits, _ or -"]
])("a tool with %o is refused, with what is allowed", (wrong, message) => {
  const invalid = expect.objectContaining({ _tag: "ValidationError", reason: "invalid_tool" }) as unknown
  const options = { name: "t", execute: run, ...wrong }
  expect(() => tool(options as never)).toThrow(invalid)
  expect(() => tool(options as never)).toThrow(message)
})

test("a tool that is made of a handler takes no `execute`, and no handler that is none", () => {
  expect(() => make({ name: "t", execute: run } as never)).toThrow("execute: unknown")
  expect(() => make({ name: "t", handler: 5 } as never)).toThrow("handler: must_be_a_function")
  const three = (_a: unknown, _b: unknown, _c: unknown) => ok(1)
  expect(() => make({ name: "t", handler: three } as never)).toThrow("handler: must_be_a_function")
  expect(make({ name: "t", handler: () => ok(1) }).name).toBe("t")
  expect(make({ name: "t", handler: null }).handler).toBe(null)
})

test("everything that is wrong with a tool is named", () => {
  const wrong = { name: "no name", timoutMs: 5, description: 5 }
  expect(() => make(wrong as never)).toThrow(
    expect.objectContaining({
      errors: ["timoutMs", "name", "description"].map((field) => expect.objectContaining({ field: [field] }) as unknown)
    })
  )
})
