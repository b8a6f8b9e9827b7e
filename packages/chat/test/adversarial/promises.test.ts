/** Promises where a value is asked for at once: a typed error, and no rejection that nobody handles. */
import { afterEach, beforeEach, expect, test } from "vitest"
import { error } from "../../src/values/HandlerResult.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { runToolCalls } from "../../src/session/ToolRunner.ts"
import { hop } from "../double/hop.ts"

const unhandled: Array<unknown> = []
const note = (reason: unknown) => void unhandled.push(reason)
beforeEach(() => void process.on("unhandledRejection", note))
afterEach(() => void process.off("unhandledRejection", note))

const rejects = () => Promise.reject(new Error("nobody asked for me"))

const outcomeOf = async (options: object, execute: () => unknown = () => 1) => {
  const call = { id: "c0", name: "t", arguments: {} }
  const { messages } = await runToolCalls([call], [tool({ name: "t", execute })], options)
  await hop()
  expect(unhandled).toEqual([])
  return [messages[0]?.outcome, messages[0]?.content]
}

test.each<readonly [string, object, string]>([
  ["toolTimeoutMs", { toolTimeoutMs: rejects }, "toolTimeoutMs returned a promise; return milliseconds"],
  ["toolIdleTimeoutMs", { toolIdleTimeoutMs: rejects }, "toolIdleTimeoutMs returned a promise; return milliseconds"],
  ["encode", { toolResultEncoder: { encode: rejects } }, "the encoder returned a promise; return a string"]
])("%s that answers with a promise fails the call, and leaves no rejection behind", async (_, options, text) => {
  expect(await outcomeOf(options)).toEqual(["failed", expect.stringContaining(text)])
})

test("an encoder that answers with a promise about a failure is not asked further: the library's words stand", async () => {
  expect(await outcomeOf({ toolResultEncoder: { encode: rejects } }, () => error("no"))).toEqual([
    "failed",
    '{"error":"no"}'
  ])
})

test("an error whose reason is a promise is an invalid_return that says so", async () => {
  expect(await outcomeOf({}, () => error(rejects()))).toEqual([
    "failed",
    expect.stringContaining("invalid_return: the reason of the error is a promise; await it in the handler")
  ])
})

test("a deadline that is no number is named as it is", async () => {
  expect(await outcomeOf({ toolTimeoutMs: () => NaN })).toEqual([
    "failed",
    expect.stringContaining("toolTimeoutMs returned NaN; return milliseconds")
  ])
})
