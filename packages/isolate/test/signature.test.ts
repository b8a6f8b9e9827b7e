import { randomBytes } from "node:crypto"
import { serialize } from "node:v8"
import { expect, test } from "vitest"
import type { FromPlace } from "../src/job.ts"
import { nonceBytes, Oversized, signed, verified } from "../src/signature.ts"

const nonce = randomBytes(nonceBytes)
const bySigner = (value: unknown, by = nonce) => Buffer.concat([by, serialize(value)])

test.each<FromPlace>([
  { type: "progress", value: new Map([["a", 1n]]) },
  { type: "settled", result: { type: "ok", value: [undefined] } },
  { type: "settled", result: { type: "error", reason: "no" } },
  { type: "settled", result: { type: "ask_user", question: "which?", options: {} } },
  { type: "settled", result: { type: "halt", reason: "enough", result: 1 } },
  { type: "raised", message: "kaboom", stack: undefined },
  { type: "crashed", message: "kaboom" },
  { type: "unsendable", message: "no" },
  { type: "oversized", bytes: 7 }
])("ISO4 a signed message is read as it was sent: %o", (message) => {
  expect(verified(signed(message, nonce, 1_000), nonce)).toEqual(message)
})

test.each([
  ["nothing", undefined],
  ["null", null],
  ["a text", "settled"],
  ["a message that is not signed", { type: "settled", result: { type: "ok", value: 1 } }],
  ["no bytes", new Uint8Array()],
  ["a piece of a nonce", nonce.subarray(1)],
  ["a nonce alone", nonce],
  ["a nonce and nonsense", Buffer.concat([nonce, Buffer.from("nonsense")])],
  ["another job's nonce", bySigner({ type: "progress", value: 1 }, randomBytes(nonceBytes))],
  ["no message", bySigner(null)],
  ["an unknown type", bySigner({ type: "done" })],
  ["no outcome", bySigner({ type: "settled", result: null })],
  ["an unknown outcome", bySigner({ type: "settled", result: { type: "yes" } })],
  ["a message of another type", bySigner({ type: "raised", message: 7, stack: undefined })],
  ["a stack of another type", bySigner({ type: "raised", message: "a", stack: 7 })],
  ["a crash without text", bySigner({ type: "crashed" })],
  ["a size of another type", bySigner({ type: "oversized", bytes: "7" })]
])("SIGN1 %s is no message, and nothing throws", (_, received) => {
  expect(verified(received, nonce)).toBeUndefined()
})

test("ISO3 a message beyond its bound is refused with its size", () => {
  const sign = () => signed({ type: "progress", value: "x".repeat(100) }, nonce, 100)
  expect(sign).toThrow(Oversized)
  expect(sign).toThrow("maxResultBytes is 100")
})
