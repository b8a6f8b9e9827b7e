import { describe, expect, test } from "vitest"
import { CliError } from "../../src/options/cliError.ts"
import type { CliOptions } from "../../src/options/cliOptions.ts"
import { chooseModel } from "../../src/model/models.ts"

const chosen = (options: Partial<CliOptions>, env: Readonly<Record<string, string>> = {}): string =>
  chooseModel({ model: undefined, baseUrl: undefined, ...options }, { env, folder: "/", wordDelayMs: 0 }).label

const scripted = "the embedded scripted model"
const url = "http://127.0.0.1:1/v1"

describe("the model", () => {
  test("without key and flags is the scripted one", () => {
    expect(chosen({})).toBe(scripted)
    expect(chosen({}, { OPENAI_API_KEY: "" })).toBe(scripted)
  })

  test.each([
    [{ OPENAI_API_KEY: "k" }, /^openai:/],
    [{ ANTHROPIC_API_KEY: "k" }, /^anthropic:/],
    [{ GOOGLE_GENERATIVE_AI_API_KEY: "k" }, /^google:/],
    [{ ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k" }, /^openai:/]
  ])("with %j is that provider's default", (env, label) => {
    expect(chosen({}, env)).toMatch(label)
  })

  test("is the one --model names, whatever keys are set", () => {
    const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" }
    expect(chosen({ model: { provider: "anthropic", id: "claude-x" } }, env)).toBe("anthropic:claude-x")
    expect(chosen({ model: { provider: "scripted", id: undefined } }, env)).toBe(scripted)
  })

  test("of another server needs its name, and no key", () => {
    expect(chosen({ model: { provider: "compatible", id: "llama" }, baseUrl: url })).toBe(`llama at ${url}`)
    expect(chosen({ model: { provider: "openai", id: "x" }, baseUrl: url })).toBe("openai:x")
    expect(() => chosen({ baseUrl: url })).toThrow(CliError)
  })

  test("of a provider without its key is refused by name", () => {
    expect(() => chosen({ model: { provider: "google", id: undefined } })).toThrow(
      /^GOOGLE_GENERATIVE_AI_API_KEY is not set/
    )
  })
})
