import { describe, expect, test } from "vitest"
import { CliError } from "../../src/options/cliError.ts"
import { type CliOptions, parseCommandLine } from "../../src/options/cliOptions.ts"

const options = (...args: ReadonlyArray<string>): CliOptions => {
  const read = parseCommandLine(args)
  if (read.type !== "chat") throw new Error(`expected options of a chat, got ${JSON.stringify(read)}`)
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

describe("the command line of observe", () => {
  test("names a server, the headers it is asked with, and whether to end at once", () => {
    expect(parseCommandLine(["observe"])).toEqual({
      type: "observe",
      options: { url: "http://127.0.0.1:5173/troupe", headers: {}, once: false }
    })
    const args = ["observe", "https://example.com/troupe", "-H", "authorization: Bearer x", "--header", "a:b", "--once"]
    expect(parseCommandLine(args)).toEqual({
      type: "observe",
      options: { url: "https://example.com/troupe", headers: { authorization: "Bearer x", a: "b" }, once: true }
    })
  })

  test("refuses what is no URL, no header, or too much", () => {
    expect(refusal("observe", "localhost")).toBe('observe needs an http(s) URL, not "localhost"')
    expect(refusal("observe", "-H", "x y: z")).toBe('--header must be "name: value", not "x y: z"')
    expect(refusal("observe", "http://a", "http://b")).toMatch(/too many arguments.*--help shows the options$/s)
    expect(parseCommandLine(["observe", "--help"])).toMatchObject({ type: "text" })
  })
})

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
