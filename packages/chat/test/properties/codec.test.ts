import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Chat from "../../src/loop/Chat.ts"
import * as Codec from "../../src/session/Codec.ts"
import * as Engine from "../../src/options/Engine.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { opening, optionsOf, Scenario, scriptsOf, tools } from "../double/scenario.ts"
import { hi } from "../double/scripts.ts"
import { values } from "../double/values.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const runs = runsOf(100)

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
      expect(Codec.decodeAny(text, options)).toStrictEqual({ type, value })
      expect(Codec.encode(type, Codec.decode(type, text, options))).toBe(text)
    },
    runs
  )
})

it.effect.prop(
  "CODEC1 every event a chat says decodes to what was encoded",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const adapter = Fake.make({ scripts: scriptsOf(opening(scenario)) })
      for await (const event of await Chat.stream(Engine.make({ adapter, tools }), hi, optionsOf(scenario))) {
        const text = Codec.encode("Event", event)
        const back = Codec.decode("Event", text)
        expect(Codec.encode("Event", back)).toBe(text)
        if (!text.includes("[function]")) expect(back).toEqual(event)
      }
    }),
  runs
)
