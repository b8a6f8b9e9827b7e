import { describe, expect, test } from "vitest"
import { CliError } from "../src/cliError.ts"
import { type CliOptions, parseCommandLine } from "../src/cliOptions.ts"

const options = (...args: ReadonlyArray<string>): CliOptions => {
  const read = parseCommandLine(args)
  if (read.type !== "chat") throw new Error(`expected options, got the text ${read.text}`)
  return read.options
}

const refusal = (...args: ReadonlyArray<string>): string => {
  try {
    options(...args)
  } catch (error) {
    if (error instanceof CliError) return error.message
    throw error
  }
  return "accepted"
}

describe("the command line", () => {
  test("asks for nothing by default", () => {
    expect(options()).toEqual({ model: undefined, baseUrl: undefined })
  })

  test("names a model as provider:id, or a provider alone", () => {
    expect(options("--model", "openai:gpt-5.5").model).toEqual({ provider: "openai", id: "gpt-5.5" })
    expect(options("--model=anthropic").model).toEqual({ provider: "anthropic", id: undefined })
    expect(options("-m", "google:models/a:b").model).toEqual({ provider: "google", id: "models/a:b" })
  })

  test("with a base URL the model is that server's, whatever its name", () => {
    expect(options("--base-url", "http://localhost:1/v1", "--model", "llama:8b").model).toEqual({
      provider: "compatible",
      id: "llama:8b"
    })
    expect(options("-b", "http://localhost:1/v1", "-m", "openai:x").model).toEqual({ provider: "openai", id: "x" })
  })

  test("the -- of a script runner is no argument", () => {
    expect(options("--", "--model", "scripted").model).toEqual({ provider: "scripted", id: undefined })
  })

  test.each([
    [["--nonsense"], "unknown option '--nonsense'; --help shows the options"],
    [["--model"], "option '-m, --model <provider:id>' argument missing; --help shows the options"],
    [
      ["--model", "acme:x"],
      'Unknown provider "acme"; use one of openai, anthropic, google, scripted, or --base-url for another server'
    ],
    [["--model", ":x"], '--model needs a provider, as in openai:gpt-5.5, not ":x"'],
    [["--base-url", "localhost"], '--base-url must be an http(s) URL, not "localhost"']
  ])("%j is refused in one line", (args, message) => {
    expect(refusal(...args)).toBe(message)
  })

  test("an argument too many is refused in one line", () => {
    expect(refusal("hello")).toMatch(/^too many arguments.*--help shows the options$/)
  })

  test("--help is a text to print", () => {
    expect(parseCommandLine(["--help"])).toMatchObject({ type: "text", text: expect.stringContaining("--base-url") })
  })
})
