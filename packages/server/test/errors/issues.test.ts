import { expect, it } from "vitest"
import * as z from "zod"
import { fitting, quoted } from "../../src/errors/index.ts"

const types = z.strictObject({
  text: z.string(),
  short: z.string().max(2),
  filled: z.string().min(1),
  many: z.array(z.number()).max(1),
  word: z.enum(["queue", "steer"]),
  one: z.literal("tool"),
  count: z.number().int().min(1).max(9),
  more: z.number().gt(0),
  either: z.union([z.string(), z.array(z.string())]),
  own: z.string("must be the name of a model"),
  record: z.record(z.string(), z.unknown()),
  flag: z.boolean(),
  step: z.number().multipleOf(5),
  mail: z.email(),
  form: z.discriminatedUnion("type", [z.object({ type: z.literal("a") }), z.object({ type: z.enum(["c", "d"]) })]),
  deep: z.object({ list: z.array(z.object({ name: z.string() })) })
})

it("a value that does not fit is described in plain English, with the place of each problem", () => {
  const { issues = [] } = fitting(types, {
    short: "long",
    filled: "",
    many: [1, 2],
    word: "que",
    one: 5,
    count: 0,
    more: 0,
    either: 5,
    own: 5,
    record: "x",
    flag: "yes",
    step: 7,
    mail: "x",
    form: { type: "b" },
    deep: { list: [{ name: null }] },
    others: 1
  })
  expect(issues.map(({ field, reason }) => `${field.join(".")}: ${reason}`)).toEqual([
    "text: is missing",
    "short: must have at most 2 characters",
    "filled: must not be empty",
    "many: must have at most 1 item",
    'word: must be one of "queue", "steer"',
    'one: must be "tool"',
    "count: must be at least 1",
    "more: must be more than 0",
    "either: must be text or a list",
    "own: must be the name of a model",
    "record: must be an object",
    "flag: must be true or false",
    "step: must be a multiple of 5",
    "mail: must have the format email",
    'form.type: must be one of "a", "c", "d"',
    "deep.list.0.name: must be text",
    ': has the unknown field "others"'
  ])
  expect(fitting(z.string(), "fits")).toEqual({ data: "fits" })
})

it("at most twenty problems are named, and long names and reasons are cut", () => {
  const { issues = [] } = fitting(
    z.array(z.string()),
    Array.from({ length: 30 }, () => 1)
  )
  expect(issues).toHaveLength(20)
  const long = fitting(z.record(z.string(), z.string("r".repeat(400))), { ["n".repeat(200)]: 1 })
  expect(long.issues).toEqual([{ field: ["n".repeat(100)], reason: "r".repeat(300) }])
})

it("WELL1 a long text of a client that an error quotes keeps its surrogate pairs", () => {
  const long = `${"a".repeat(99)}😀`
  expect(quoted(long)).toBe(`"${"a".repeat(99)}"`)
  const { issues = [] } = fitting(z.strictObject({}), { [long]: 1 })
  expect(JSON.stringify(issues)).not.toContain("\\ud83d")
})
