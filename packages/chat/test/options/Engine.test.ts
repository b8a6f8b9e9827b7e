import { expect, test } from "vitest"
import { resolveModel, resolveParams } from "../../src/options/deferredTools.ts"
import * as Engine from "../../src/options/Engine.ts"

test("the call's model wins over the engine's", () => {
  expect(resolveModel(Engine.make({ model: "a" }), "b")).toBe("b")
  expect(resolveModel(Engine.make({ model: "a" }), undefined)).toBe("a")
  expect(resolveModel(Engine.make({}), undefined)).toBeUndefined()
})

test("the call's parameters are laid over the engine's", () => {
  const engine = Engine.make({ params: { temperature: 0.2, topP: 1 } })
  expect(resolveParams(engine, {})).toEqual({ temperature: 0.2, topP: 1 })
  expect(resolveParams(engine, { temperature: 0.7, maxTokens: 9, providerOptions: { seed: 1 } })).toEqual({
    temperature: 0.7,
    maxTokens: 9,
    topP: 1,
    seed: 1
  })
})
