import { describe, expect, test } from "vitest"
import { calculate } from "../src/calculator.ts"

const value = (expression: string): number | string => {
  const result = calculate(expression)
  return result.ok ? result.value : result.error.message
}

/** A small generator of numbers from a seed, so that a failing case can be run again. */
const random = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) % 2 ** 32
  return seed / 2 ** 32
}

type Tree = number | { readonly sign: "+" | "-" | "*"; readonly left: Tree; readonly right: Tree }

const tree = (next: () => number, depth: number): Tree =>
  depth === 0 || next() < 0.3
    ? Math.floor(next() * 20) - 5
    : {
        sign: (["+", "-", "*"] as const)[Math.floor(next() * 3)] ?? "+",
        left: tree(next, depth - 1),
        right: tree(next, depth - 1)
      }

const computed = (node: Tree): number => {
  if (typeof node === "number") return node
  const [left, right] = [computed(node.left), computed(node.right)]
  return node.sign === "+" ? left + right : node.sign === "-" ? left - right : left * right
}

const written = (node: Tree): string =>
  typeof node === "number" ? `${node}` : `(${written(node.left)} ${node.sign} ${written(node.right)})`

describe("calculate", () => {
  test.each([
    ["2 + 3 * 4", 14],
    ["12 * (3+4)", 84],
    ["2^3^2", 512],
    ["-2^2", -4],
    ["2^-1", 0.5],
    ["7 % 4", 3],
    ["10 - 4 - 3", 3],
    ["100 / 10 / 2", 5],
    ["--5", 5],
    ["0.1 + 0.2", 0.3],
    ["1.5e3", 1500],
    [".5 * 4", 2]
  ])("%s is %d", (expression, expected) => {
    expect(value(expression)).toBe(expected)
  })

  test.each([
    ["", "There is nothing to calculate"],
    ["1 / 0", "Division by zero"],
    ["1 % 0", "Division by zero"],
    ["(1 + 2", "The expression ends too early"],
    ["1 +", "The expression ends too early"],
    ["1 2", '"2" at position 3 is out of place'],
    [")", '")" at position 1 is out of place'],
    ["2 & 3", 'I cannot read "&" at position 3; use numbers and + - * / % ^ ( )'],
    ["process.exit(1)", 'I cannot read "p" at position 1; use numbers and + - * / % ^ ( )'],
    ["10^1000", "The result is too large, or is not a real number"],
    ["(-8)^0.5", "The result is too large, or is not a real number"],
    ["(".repeat(10_000), "The expression is nested too deeply"]
  ])("says what is wrong with %j", (expression, message) => {
    expect(value(expression)).toBe(message)
  })

  test("computes what any tree of sums and products of integers is", () => {
    const next = random(7)
    for (let run = 0; run < 300; run++) {
      const grown = tree(next, 5)
      expect({ grown, value: value(written(grown)) }).toEqual({ grown, value: computed(grown) + 0 })
    }
  })

  test("gives any text a number or a reason, and never throws", () => {
    const next = random(11)
    const signs = "0123456789+-*/%^(). ex"
    for (let run = 0; run < 1_000; run++) {
      const text = Array.from({ length: 12 }, () => signs[Math.floor(next() * signs.length)]).join("")
      expect(calculate(text)).toMatchObject({ ok: expect.any(Boolean) })
    }
  })
})
