import { expect, test } from "vitest"
import * as Engine from "../../src/options/Engine.ts"

test("the call's model wins over the engine's", () => {
  expect(Engine.resolveModel(Engine.make({ model: "a" }), "b")).toBe("b")
  expect(Engine.resolveModel(Engine.make({ model: "a" }), undefined)).toBe("a")
  expect(Engine.resolveModel(Engine.make({}), undefined)).toBeUndefined()
})

test("the call's parameters are laid over the engine's", () => {
  const engine = Engine.make({ params: { temperature: 0.2, topP: 1 } })
  expect(Engine.resolveParams(engine, {})).toEqual({ temperature: 0.2, topP: 1 })
  expect(Engine.resolveParams(engine, { temperature: 0.7, maxTokens: 9, providerOptions: { seed: 1 } })).toEqual({
    temperature: 0.7,
    maxTokens: 9,
    topP: 1,
    seed: 1
  })
})
