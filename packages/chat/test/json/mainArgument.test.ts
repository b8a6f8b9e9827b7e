import { ChatView } from "@troupe/chat/view"
import { describe, expect, test } from "vitest"

const about = ChatView.mainArgument

describe("the main argument of a call", () => {
  test("is that with the best name, however late it is", () => {
    expect(about({ limit: 5, deep: true, path: "src/main.ts" })).toBe("src/main.ts")
    expect(about({ id: "7", query: "owls" })).toBe("owls")
  })

  test("is the first text, number or boolean when no name is known", () => {
    expect(about({ list: [1], dollars: 20, note: "x" })).toBe("20")
    expect(about({ force: false })).toBe("false")
  })

  test("is absent without a text, a number or a boolean, and for arguments that are no object", () => {
    expect([about({}), about({ a: null, b: {} }), about({ name: "  " }), about(null)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined
    ])
  })

  test("is one line of at most 80 characters, whole ones, of a text of any length", () => {
    expect(about({ text: "a\n\n  b" })).toBe("a b")
    const long = about({ text: "🦉".repeat(1_000_000) }) ?? ""
    expect([Array.from(long).length, long.isWellFormed(), long.endsWith("…")]).toEqual([80, true, true])
    expect(about({ text: `a${" ".repeat(1_000_000)}` })).toBe("a…")
  })

  test("is not looked for behind twenty others", () => {
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, null]))
    expect(about({ ...many, last: "x" })).toBeUndefined()
  })
})
