import { describe, expect, test } from "vitest"
import { describeCall, foundPaths, outcomeOf } from "../src/answers.ts"

const said = (name: string, args: Readonly<Record<string, unknown>>, content: string): string =>
  describeCall({ name, arguments: args, content }, "/home/ada")

describe("outcomeOf", () => {
  test("reads plain text, structured text and errors", () => {
    expect(outcomeOf("hi")).toEqual({ failed: false, text: "hi" })
    expect(outcomeOf('{"content":"hi"}')).toEqual({ failed: false, text: "hi" })
    expect(outcomeOf('{"error":"timeout: too late"}')).toEqual({ failed: true, error: "timeout: too late" })
  })

  test("takes a JSON text for what it is", () => {
    expect(outcomeOf('{"name":"x"}')).toEqual({ failed: false, text: '{"name":"x"}' })
    expect(outcomeOf("{ not json")).toEqual({ failed: false, text: "{ not json" })
  })
})

describe("describeCall", () => {
  test("a listing has folders first, and counts", () => {
    const content = JSON.stringify({ content: "[FILE] b.txt\n[DIR] src\n[FILE] a.txt" })
    expect(said("list_directory", { path: "." }, content)).toBe(
      "This folder holds 1 folder and 2 files:\n  src/\n  a.txt\n  b.txt"
    )
    expect(said("list_directory", { path: "src" }, '{"content":""}')).toBe("src is empty.")
  })

  test("a long file is cut, and says so", () => {
    const text = Array.from({ length: 30 }, (_, index) => `line ${index}`).join("\n")
    const answer = said("read_text_file", { path: "a.txt" }, text)
    expect(answer).toContain("a.txt has 30 lines:\n  line 0\n")
    expect(answer).toMatch(/ {2}line 19\n {2}… and 10 more lines$/)
  })

  test("what a search finds is seen from the folder", () => {
    expect(foundPaths("/home/ada/src/a.ts\n/home/ada/b.ts", "/home/ada")).toEqual(["src/a.ts", "b.ts"])
    expect(said("search_files", { pattern: "**/*x*" }, "No matches found")).toBe("No name matches **/*x*.")
    expect(said("search_files", { pattern: "**/*a*" }, "/home/ada/a.ts")).toBe("1 name matches **/*a*:\n  a.ts")
  })

  test("a sum is an equation", () => {
    expect(said("calculate", { expression: "1+1" }, "2")).toBe("1+1 = 2")
  })

  test.each([
    ["timeout: too late", /was stopped at its deadline/],
    ["handler_raised: boom", /crashed \(handler_raised: boom\).*the chat goes on/],
    ["cancelled: by the user", /was cancelled/],
    ["no such file", /failed: no such file/]
  ])("the error %j is reported", (error, sentence) => {
    expect(said("slow_job", { seconds: 1 }, JSON.stringify({ error }))).toMatch(sentence)
  })
})
