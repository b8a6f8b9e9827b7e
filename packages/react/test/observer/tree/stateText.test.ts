import { describe, expect, test } from "vitest"
import { type StatePart, stateOf } from "../../../src/observer/tree/stateText.ts"

const plain = ({ name, text, parts }: StatePart): unknown => [
  name,
  ...(text === "" ? [] : [text]),
  ...(parts === undefined ? [] : [parts.map(plain)])
]

describe("the text of a state", () => {
  test("STATE1. is a tree of its objects and lists", () => {
    expect(plain(stateOf('{ a: "x, }", list: [1, { b: Store <0.3.0> }], m: Map(1) { "k" => 2 } }'))).toEqual([
      undefined,
      [
        ["a", '"x, }"'],
        [
          "list",
          [
            ["0", "1"],
            ["1", [["b", "Store <0.3.0>"]]]
          ]
        ],
        ["m", "Map(1)", [["k", "2"]]]
      ]
    ])
  })

  test("STATE1. is a leaf where it is no object, and loses nothing where it was cut", () => {
    expect(plain(stateOf("<0.3.0> waits"))).toEqual([undefined, "<0.3.0> waits"])
    expect(plain(stateOf("{ a: 1 } and more"))).toEqual([undefined, "{ a: 1 } and more"])
    expect(plain(stateOf('{ a: { b: "cut …'))).toEqual([undefined, [["a", [["b", '"cut …']]]]])
  })

  test("STATE1. takes time that grows with its length, however deep it is", () => {
    const deep = "{ a: ".repeat(20_000)
    expect(stateOf(deep).parts?.length).toBe(1)
  })
})
