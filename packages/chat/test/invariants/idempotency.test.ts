import { expect, test } from "vitest"
import { idempotencyKey } from "../../src/internal/idempotency.ts"
import { ok } from "../../src/HandlerResult.ts"
import { runToolCalls } from "../../src/ToolRunner.ts"
import { handling } from "../double/scripts.ts"

test("a call's key is its session's, its id's and its place's; without a session it is the request's", () => {
  const key = idempotencyKey({ sessionId: "s1", requestId: "r1" }, "c0", { messageIndex: 2, index: 1 })
  expect(key).toBe("s1/c0/2.1")
  expect(idempotencyKey({ requestId: "r1" }, "c0", {})).toBe("r1/c0/0.0")
})

test("no two calls have one key, whatever their ids are made of, and it is printable ASCII", () => {
  const ids = ["", "a", "a/b", "b", "/", "%2F", "%", "é", "\u{1F600}", "a b"]
  const keys = ids.flatMap((sessionId) =>
    ids.flatMap((id) =>
      [0, 1, 11].flatMap((messageIndex) =>
        [0, 1, 11].map((index) => idempotencyKey({ sessionId, requestId: "r" }, id, { messageIndex, index }))
      )
    )
  )
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.every((key) => /^[!-~]+$/.test(key))).toBe(true)
  expect(idempotencyKey({ requestId: "\uD800" }, "\uDC00", {})).toMatch(/^[!-~]+$/)
})

test("a handler is handed its call's key; calls of one id in a batch have each their own", async () => {
  const keys: Array<string> = []
  const tools = [
    handling("t", (_args, { idempotencyKey: key }) => {
      keys.push(key)
      return ok(1)
    })
  ]
  const call = { id: "c0", name: "t", arguments: {} }
  await runToolCalls([call, call], tools, { requestId: "r1" })
  expect(keys).toEqual(["r1/c0/0.0", "r1/c0/0.1"])
})
