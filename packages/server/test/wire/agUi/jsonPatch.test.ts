import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { patchOf } from "../../../src/wire/agUi/jsonPatch.ts"

/** Applies operations as a client does: one after another. */
const applied = (value: unknown, operations: ReturnType<typeof patchOf>): unknown => {
  const root = { value: structuredClone(value) }
  for (const operation of operations) {
    const path = operation.path.split("/").slice(1)
    const names = ["value", ...path.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))]
    const last = names.pop() ?? ""
    const parent = names.reduce<unknown>((one, name) => Reflect.get(Object(one), name), root)
    if (Array.isArray(parent) && operation.op === "add") parent.splice(Number(last), 0, operation.value)
    else if (Array.isArray(parent) && operation.op === "remove") parent.splice(Number(last), 1)
    else if (operation.op === "remove") Reflect.deleteProperty(Object(parent), last)
    else Reflect.set(Object(parent), last, operation.value)
  }
  return root.value
}

/** A value as a client gets it. JSON has one zero: a state with `-0` and one with `0` have the same JSON, and no patch is between them. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const Leaf = Schema.Union([Schema.Number.check(Schema.isInt()), Schema.Boolean, Schema.Null])
const Value = Schema.Struct({
  a: Schema.optionalKey(Leaf),
  "b/~": Schema.optionalKey(Schema.Array(Leaf)),
  c: Schema.optionalKey(Schema.Struct({ d: Schema.optionalKey(Leaf), e: Schema.optionalKey(Schema.Array(Leaf)) }))
})

describe("a patch", () => {
  it("names only what differs", () => {
    expect(patchOf({ a: 1, b: [1, 2, 3], c: { d: 1 } }, { b: [1, 5], c: { d: 1, "e/f~": 2 } })).toEqual([
      { op: "remove", path: "/a" },
      { op: "replace", path: "/b/1", value: 5 },
      { op: "remove", path: "/b/2" },
      { op: "add", path: "/c/e~1f~0", value: 2 }
    ])
    expect(patchOf({ a: [1] }, { a: { 0: 1 } })).toEqual([{ op: "replace", path: "/a", value: { 0: 1 } }])
  })

  it("is empty between two values with the same JSON", () => {
    expect(patchOf({ a: -0, b: [0] }, { a: 0, b: [-0] })).toEqual([])
  })

  it.prop("makes the second value from the first", [Value, Value], ([before, after]) => {
    expect(asJson(applied(before, patchOf(before, after)))).toEqual(asJson(after))
    expect(patchOf(after, structuredClone(after))).toEqual([])
  })
})
