/**
 * The three tools of the chat itself.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises"
import { askUser, error, ok, tool } from "@troupe/chat"
import { ToolError } from "@troupe/chat/errors"
import type { Tool } from "@troupe/chat/tools"
import * as z from "zod"
import { calculate } from "./calculator.ts"
import type { ProgressBoard } from "./progress.ts"

/** The options of the tools. */
export interface ToolOptions {
  readonly progress: ProgressBoard
  /** Deadline of one `slow_job` in milliseconds. Default 5,000. */
  readonly slowJobTimeoutMs?: number | undefined
  /** Waits, and rejects when the signal is aborted. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<unknown>) | undefined
}

/** Deadline of one `slow_job` in milliseconds. */
const slowJobTimeoutMs = 5_000

const stepMs = 250

/** Calculates. */
export const calculateTool: Tool.Tool = tool({
  name: "calculate",
  description: "Computes an arithmetic expression of numbers, + - * / % ^ and parentheses",
  effect: "read",
  parameters: z.object({ expression: z.string().describe("For example 12 * (3 + 4)") }),
  execute: ({ expression }) => {
    const result = calculate(expression)
    return result.ok ? ok(result.value) : error(result.error.message)
  }
})

/** Asks the user; the next message answers. */
export const askTool: Tool.Tool = tool({
  name: "ask",
  description: "Asks the user a question and waits for the answer",
  parameters: z.object({ question: z.string() }),
  execute: ({ question }) => askUser(question)
})

/** Runs for some time, reports progress, and stops when its signal is aborted. */
export const slowJobTool = (options: ToolOptions): Tool.Tool =>
  tool({
    name: "slow_job",
    description: "Works for some seconds and reports its progress; fails half way when asked to crash",
    effect: "read",
    parameters: z.object({ seconds: z.number().positive().max(3_600), crash: z.boolean().optional() }),
    timeoutMs: options.slowJobTimeoutMs ?? slowJobTimeoutMs,
    execute: async ({ seconds, crash }, { signal, toolCall }) => {
      const pause = options.pause ?? pauseFor
      const total = Math.ceil((seconds * 1_000) / stepMs)
      try {
        for (let done = 0; done < total; done++) {
          await pause(stepMs, signal).catch((fault: unknown) => {
            if (!signal.aborted) throw fault
          })
          if (signal.aborted) {
            const message = `stopped after part ${done} of ${total}, as requested`
            return error(new ToolError("cancelled", { toolName: toolCall.name, toolCallId: toolCall.id, message }))
          }
          options.progress.report(toolCall, { done: done + 1, total })
          if (crash === true && 2 * (done + 1) >= total)
            throw new Error(`the job broke after part ${done + 1} of ${total}`)
        }
        return ok(`worked for ${seconds} seconds`)
      } finally {
        options.progress.clear(toolCall.id)
      }
    }
  })

/** All three tools. */
export const makeTools = (options: ToolOptions): ReadonlyArray<Tool.Tool> => [
  calculateTool,
  askTool,
  slowJobTool(options)
]

const pauseFor = (ms: number, signal: AbortSignal): Promise<unknown> => sleep(ms, undefined, { signal })
