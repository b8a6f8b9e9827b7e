/** The laws of an encoder of tool results. */
import { error, ok } from "@troupe/chat"
import { describe } from "@troupe/chat/errors"
import type { ToolResultEncoder } from "@troupe/chat/tools"
import { holds, type Law, law } from "../law/index.ts"

const encodable: ReadonlyArray<unknown> = [
  "",
  "text",
  0,
  1.5,
  true,
  null,
  undefined,
  [],
  [1, "two", null],
  {},
  { nested: { list: [1, 2] } },
  ok({ x: 1 }),
  error("a reason"),
  error({ code: 7 }),
  error(new Error("a message"))
]

/** The text of a value. An encoder may throw, but must not return anything but a string. */
const textOf = (encoder: ToolResultEncoder.ToolResultEncoder, value: unknown): string => {
  const text: unknown = encoder.encode(value)
  holds(typeof text === "string", () => `${describe(value)} was encoded as ${describe(text)}, which is no text`)
  return text as string
}

/** The laws of `ToolResultEncoder`. */
export const encoderLaws = (encoder: () => ToolResultEncoder.ToolResultEncoder): ReadonlyArray<Law> => [
  law("everything JSON can say has a text", () => {
    for (const value of encodable) textOf(encoder(), value)
  }),
  law("the same value has the same text", () => {
    const one = encoder()
    for (const value of encodable) {
      const texts = [textOf(one, value), textOf(one, value), textOf(encoder(), value)]
      holds(new Set(texts).size === 1, () => `${describe(value)} was encoded as ${texts.join(" and as ")}`)
    }
  }),
  law("encoding changes nothing", () => {
    const value = { list: [1, { deep: true }] }
    const before = JSON.stringify(value)
    textOf(encoder(), value)
    holds(JSON.stringify(value) === before, () => `the value became ${JSON.stringify(value)}`)
  }),
  law("a failure's text shows its message, and never its stack", () => {
    const text = textOf(encoder(), error(new Error("the disk is full")))
    holds(text.includes("the disk is full") && !/\bat .*:\d+/.test(text), () => `a failure was encoded as ${text}`)
  })
]
