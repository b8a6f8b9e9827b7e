import { describe, expect, test } from "vitest"
import { mostCalls, plan } from "../src/planner.ts"
import { suggestions } from "../src/suggestions.ts"

/** The calls of a plan in short: the tool's name and its telling argument. */
const calls = (text: string): ReadonlyArray<string> =>
  plan(text).calls.map(({ name, arguments: given }) => {
    const notifying =
      given["expression"] ??
      given["city"] ??
      given["dollars"] ??
      given["pattern"] ??
      given["seconds"] ??
      given["question"] ??
      given["path"]
    return `${name} ${String(notifying)}`
  })

describe("plan", () => {
  test.each([
    ["list the files here", "list_directory ."],
    ["please show me the files", "list_directory ."],
    ["what is in this folder?", "list_directory ."],
    ["ls src", "list_directory src"],
    ["list the files in the apps folder", "list_directory apps"],
    ["List the files in apps/cli, please.", "list_directory apps/cli"],
    ["read package.json", "read_text_file package.json"],
    ["what's in package.json?", "read_text_file package.json"],
    ["read the README", "read_text_file README.md"],
    ['read "my notes.txt"', "read_text_file my notes.txt"],
    ["search for planner", "search_files **/*planner*"],
    ["where is the planner", "search_files **/*planner*"],
    ["find files named *.md", "search_files **/*.md"],
    ['search for "foo and bar"', "search_files **/*foo and bar*"],
    ["search for slow", "search_files **/*slow*"],
    ["what is 12 * (3+4)", "calculate 12 * (3+4)"],
    ["how much is 3 times 4 plus 1?", "calculate 3 * 4 + 1"],
    ["1,250,000 / 2", "calculate 1250000 / 2"],
    ["run the slow tool", "slow_job 3"],
    ["wait for 2 seconds", "slow_job 2"],
    ["let a tool time out", "slow_job 60"],
    ["crash a tool", "crash undefined"],
    ["run the stubborn tool", "stubborn 6"],
    ["charge 20 dollars", "charge 20"],
    ["reserve a hotel room", "book_room undefined"],
    ["look at the weather in Rome", "weather Rome"],
    ["read weather.txt", "read_text_file weather.txt"],
    ["search for hotel", "search_files **/*hotel*"],
    ["book a table", "ask Before I can book a table: for when, and for how many?"]
  ])("%s is one call", (text, call) => {
    expect(calls(text)).toEqual([call])
  })

  test("several clauses are several calls of one batch", () => {
    expect(calls("list the files here, what is 2+3 and run the slow tool")).toEqual([
      "list_directory .",
      "calculate 2+3",
      "slow_job 3"
    ])
  })

  test("a bare word takes the verb of the clause before it", () => {
    expect(calls("read a.txt, b.txt and LICENSE")).toEqual([
      "read_text_file a.txt",
      "read_text_file b.txt",
      "read_text_file LICENSE"
    ])
    expect(calls("list src and packages")).toEqual(["list_directory src", "list_directory packages"])
  })

  test("a search may name its folder", () => {
    expect(plan("search for main in apps").calls[0]?.arguments).toMatchObject({ path: "apps", pattern: "**/*main*" })
  })

  test("what a search finds can be read next", () => {
    expect(plan("search for main and read it")).toMatchObject({ readFound: true, calls: [{ name: "search_files" }] })
    expect(plan("read a.txt")).toMatchObject({ readFound: false })
  })

  test("the weather of several cities is a call for each", () => {
    expect(calls("What's the weather in Oslo, Lima and Kyoto?")).toEqual([
      "weather Oslo",
      "weather Lima",
      "weather Kyoto"
    ])
    expect(calls("Crash a tool and look at the weather in Rome")).toEqual(["crash undefined", "weather Rome"])
  })

  test("each suggestion is understood", () => {
    for (const { text } of suggestions.slice(0, -1)) expect(calls(text)).not.toEqual([])
  })

  test.each(["hello", "what is the time", "", "thanks!", "tell me about cats"])("%j is no call", (text) => {
    expect(calls(text)).toEqual([])
  })

  test("a plan is bounded", () => {
    const files = Array.from({ length: 50 }, (_, index) => `f${index}.txt`)
    expect(plan(`read ${files.join(", ")}`).calls).toHaveLength(mostCalls)
  })
})
