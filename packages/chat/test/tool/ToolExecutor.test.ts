import { Process } from "@troupe/otp"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { ToolError } from "../../src/errors/ChatError.ts"
import { askUser, error, halt, ok } from "../../src/values/HandlerResult.ts"
import type { Returned } from "../../src/tool/Returned.ts"
import { make } from "../../src/tool/Tool.ts"
import { inProcess } from "../../src/tool/ToolExecutor.ts"
import type { Handler, ToolContext } from "../../src/tool/toolContract.ts"

const context: ToolContext = {
  context: { a: 1 },
  sessionId: "s1",
  requestId: "r1",
  toolCall: { id: "c0", name: "t", arguments: { x: 1 } },
  signal: new AbortController().signal,
  progress: () => {},
  idempotencyKey: "s1/c0/0.0",
  setPermissionMode: async () => {}
}

const executed = async (handler: Handler | null): Promise<Returned> => {
  const returned = inProcess.execute(make({ name: "t", handler }), { x: 1 }, context)
  return Effect.isEffect(returned) ? Effect.runPromise(returned) : returned
}

/** The tool error a handler's fault became. */
const faultOf = async (handler: Handler | null): Promise<ToolError> => {
  const result = await executed(handler)
  if (result.type !== "error" || !(result.reason instanceof ToolError)) throw new Error("no tool error")
  return result.reason
}

/** A handler that breaks its contract. */
const rogue = (value: unknown): Handler => (() => value) as Handler

describe("the executor", () => {
  test.each([
    ok("x"),
    ok(undefined),
    error("biz"),
    error(null),
    askUser("q?"),
    askUser("q?", { a: 1 }),
    halt("done", 1)
  ])("31 passes the outcome %j through untouched, from a value, a promise and an effect", async (outcome) => {
    for (const handler of [() => outcome, () => Promise.resolve(outcome), () => Effect.succeed(outcome)]) {
      expect(await executed(handler)).toBe(outcome)
    }
  })

  test("32 a reported failure is no tool error", async () => {
    expect(await executed(() => error("biz"))).toEqual({ type: "error", reason: "biz" })
  })

  test("33 a throw is handler_raised, its cause what was thrown", async () => {
    const kaboom = new Error("kaboom")
    const raising: ReadonlyArray<Handler> = [
      () => {
        throw kaboom
      },
      () => Promise.reject(kaboom),
      () => Effect.fail(kaboom),
      () => Effect.die(kaboom)
    ]
    for (const handler of raising) {
      expect(await faultOf(handler)).toMatchObject({ reason: "handler_raised", cause: kaboom, toolName: "t" })
    }
  })

  test("34 a thrown value that is no error is the cause as it is", async () => {
    const thrown = { code: 7 }
    expect(await faultOf(() => Promise.reject(thrown as unknown as Error))).toMatchObject({ cause: thrown })
  })

  test("35 an exit is handler_exit, its cause the exit reason", async () => {
    expect(await faultOf(() => Process.exitSelf("gone"))).toMatchObject({ reason: "handler_exit", cause: "gone" })
    expect(await faultOf(() => Effect.die(Process.exitWith("gone")))).toMatchObject({
      reason: "handler_exit",
      cause: "gone"
    })
  })

  test.each([
    undefined,
    null,
    "done",
    7,
    {},
    { type: "ok", value: 1 },
    askUser(1 as unknown as string),
    askUser("q", [] as unknown as Record<string, unknown>),
    halt(7 as unknown as string, 1)
  ])("36 %j is none of the four outcomes: invalid_return, its cause the value", async (value) => {
    const fault = await faultOf(rogue(value))
    expect(fault.reason).toBe("invalid_return")
    expect(fault.cause ?? value).toBe(value)
  })

  test("37 a tool without a handler is not_found", async () => {
    expect(await faultOf(null)).toMatchObject({ reason: "not_found", toolName: "t", toolCallId: undefined })
  })

  test("38 the handler gets the arguments and the context as they are", async () => {
    let seen: unknown
    await executed((...args) => {
      seen = args
      return ok(1)
    })
    expect(seen).toEqual([{ x: 1 }, context])
  })
})
