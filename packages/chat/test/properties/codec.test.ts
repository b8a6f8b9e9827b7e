import { describe, expect, it } from "@effect/vitest"
import * as Codec from "../../src/Codec.ts"
import type { Tool } from "../../src/Tool.ts"
import { values } from "../double/values.ts"

const runs = { arbitrary: { runs: 100 } }

/** The tools a value holds: they are given back by name. */
const toolsOf = (value: object): ReadonlyArray<Tool> => {
  if ("tools" in value && "params" in value) return value.tools as ReadonlyArray<Tool>
  return "handler" in value ? [value as Tool] : []
}

it("CODEC1 every type that has a JSON form is tried", () => {
  expect(Object.keys(values).toSorted()).toEqual(Codec.types.toSorted())
})

describe.each(Codec.types)("CODEC1 %s", (type) => {
  it.prop(
    "decodes to what was encoded, through the text and without",
    { value: values[type] },
    ({ value }) => {
      const options = { tools: toolsOf(value) }
      const encoded = Codec.toJson(type, value)
      const text = Codec.encode(type, value)
      expect(JSON.parse(text)).toStrictEqual(encoded)
      expect(Codec.decode(type, text, options)).toStrictEqual(value)
      expect(Codec.fromJsonAny(encoded, options)).toStrictEqual({ type, value })
      expect(Codec.encode(type, Codec.decode(type, text, options))).toBe(text)
    },
    runs
  )
})
