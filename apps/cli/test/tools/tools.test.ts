import type { Tool } from "@troupe/chat/tools"
import { describe, expect, test } from "vitest"
import { makeProgressBoard, type Progress } from "../../src/tools/progress.ts"
import { askTool, calculateTool, slowJobTool } from "../../src/tools/tools.ts"

const contextOf = (signal: AbortSignal): Tool.ToolContext => ({
  context: {},
  sessionId: undefined,
  requestId: undefined,
  toolCall: { id: "call_1", name: "slow_job", arguments: {} },
  signal,
  progress: () => {},
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
    expect(await handled(askTool, { question: "when?" })).toEqual({ type: "ask_user", question: "when?", options: {} })
  })
})

describe("slow_job", () => {
  const reported: Array<Progress> = []
  const progress = makeProgressBoard((_call, report) => reported.push(report))

  test("reports every part of its work and leaves no progress behind", async () => {
    reported.length = 0
    const tool = slowJobTool({ progress, pause: () => Promise.resolve() })
    expect(await handled(tool, { seconds: 1 })).toEqual({ type: "ok", value: "worked for 1 seconds" })
    expect(reported).toEqual([1, 2, 3, 4].map((done) => ({ done, total: 4 })))
    expect(progress.of("call_1")).toBeUndefined()
  })

  test("fails half way when asked to crash, however short it is", async () => {
    const tool = slowJobTool({ progress, pause: () => Promise.resolve() })
    await expect(handled(tool, { seconds: 1, crash: true })).rejects.toThrow("the job broke after part 2 of 4")
    await expect(handled(tool, { seconds: 0.1, crash: true })).rejects.toThrow("the job broke after part 1 of 1")
  })

  test("stops when its signal is aborted", async () => {
    reported.length = 0
    const ending = new AbortController()
    const tool = slowJobTool({ progress })
    const running = handled(tool, { seconds: 3_600 }, ending.signal)
    ending.abort()
    expect(await running).toMatchObject({
      type: "error",
      reason: { _tag: "ToolError", reason: "cancelled", message: "stopped after part 0 of 14400, as requested" }
    })
    expect(reported).toEqual([])
    expect(progress.of("call_1")).toBeUndefined()
  })
})
