import type { Tool } from "@troupe/chat/tools"
import { describe, expect, test } from "vitest"
import { ask, calculateTool, type Progress, slowJob } from "../src/tools.ts"

const reported: Array<Progress> = []

const contextOf = (signal: AbortSignal): Tool.ToolContext => ({
  context: {},
  sessionId: undefined,
  requestId: undefined,
  toolCall: { id: "call_1", name: "slow_job", arguments: {} },
  signal,
  progress: (value) => void reported.push(value as Progress),
  idempotencyKey: "c1/call_1/0.0",
  setPermissionMode: async () => {}
})

const handled = async (
  tool: Tool.Tool,
  args: Record<string, unknown>,
  signal = new AbortController().signal
): Promise<unknown> => tool.handler?.(args, contextOf(signal))

describe("calculate", () => {
  test("returns the value, or a reported failure", async () => {
    expect(await handled(calculateTool, { expression: "6 * 7" })).toEqual({ type: "ok", value: 42 })
    expect(await handled(calculateTool, { expression: "6 *" })).toEqual({
      type: "error",
      reason: "The expression ends too early"
    })
  })
})

describe("ask", () => {
  test("asks the user", async () => {
    expect(await handled(ask, { question: "when?" })).toEqual({ type: "ask_user", question: "when?", options: {} })
  })
})

describe("slow_job", () => {
  test("reports every part of its work", async () => {
    reported.length = 0
    expect(await handled(slowJob, { seconds: 0.5 })).toEqual({ type: "ok", value: "worked for 0.5 seconds" })
    expect(reported).toEqual([1, 2].map((done) => ({ done, total: 2 })))
  })

  test("stops when its signal is aborted", async () => {
    reported.length = 0
    const ending = new AbortController()
    const running = handled(slowJob, { seconds: 3_600 }, ending.signal)
    ending.abort()
    expect(await running).toMatchObject({
      type: "error",
      reason: { _tag: "ToolError", reason: "cancelled", message: "stopped after part 0 of 14400, as requested" }
    })
    expect(reported).toEqual([])
  })
})
