import { expect, test } from "vitest"
import { ToolError } from "../../src/errors/ChatError.ts"
import { type Held, held, original } from "../../src/values/held.ts"

const stored = <A>(data: Held<A>): Held<A> => JSON.parse(JSON.stringify(data)) as Held<A>

test("HELD1 the original of a held value is the same value in the program that holds it", () => {
  const value = { size: 3n, run: () => 1 }
  expect(original(held(value))).toBe(value)
})

test("HELD1 after its data went through JSON, a held value has its classes, its numbers and its fields", () => {
  const failure = new ToolError("timeout", { message: "no result", toolName: "look", toolCallId: "c1" })
  const read = original(stored(held({ failure, ratio: Infinity, count: 3n })))
  expect(read).toEqual({ failure, ratio: Infinity, count: 3n })
  expect(read.failure).toBeInstanceOf(ToolError)
})

test("HELD1 a part without a JSON form does not keep the other parts from a restore", () => {
  const read = original(stored(held<Record<string, unknown>>({ text: "kept", run: () => 1 })))
  expect(read["text"]).toBe("kept")
})

test("HELD2 the JSON form of a held value is made when it is read for the first time, and once", () => {
  let made = 0
  const value = {
    get text(): string {
      made++
      return "large"
    }
  }
  const data = held(value)
  original(data)
  expect(made).toBe(0)
  expect(data.json).toBe(data.json)
  expect(made).toBe(1)
})
