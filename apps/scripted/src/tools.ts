/**
 * The tools of the demo and the playground: one for each kind of behaviour.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises"
import { askUser, error, ok, tool } from "@troupe/chat"
import { ToolError } from "@troupe/chat/errors"
import type { Tool } from "@troupe/chat/tools"
import * as z from "zod"
import { calculate } from "./calculator.ts"

/** The progress of one call: `done` of `total` parts. */
export interface Progress {
  readonly done: number
  readonly total: number
}

const stepMs = 250

const degreesOf = (city: string): number =>
  Array.from(city).reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 30

/** The weather of a city, after a while. */
export const weather: Tool.Tool = tool({
  name: "weather",
  description: "The weather in a city",
  effect: "read",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }, { signal }) => {
    await sleep(300 + degreesOf(city) * 40, undefined, { signal })
    return `${degreesOf(city)} °C in ${city}`
  }
})

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
export const ask: Tool.Tool = tool({
  name: "ask",
  description: "Asks the user a question and waits for the answer",
  effect: "read",
  parameters: z.object({ question: z.string() }),
  execute: ({ question }) => askUser(question)
})

/** Runs for some time, reports progress, and stops when its signal is aborted. */
export const slowJob: Tool.Tool = tool({
  name: "slow_job",
  description: "Works for some seconds and reports its progress",
  effect: "read",
  parameters: z.object({ seconds: z.number().positive().max(3_600) }),
  timeoutMs: 5_000,
  execute: async ({ seconds }, { signal, toolCall, progress }) => {
    const total = Math.ceil((seconds * 1_000) / stepMs)
    for (let done = 0; done < total; done++) {
      await sleep(stepMs, undefined, { signal }).catch((fault: unknown) => {
        if (!signal.aborted) throw fault
      })
      if (signal.aborted) {
        const message = `stopped after part ${done} of ${total}, as requested`
        return error(new ToolError("cancelled", { toolName: toolCall.name, toolCallId: toolCall.id, message }))
      }
      progress({ done: done + 1, total } satisfies Progress)
    }
    return ok(`worked for ${seconds} seconds`)
  }
})

const stubborn = tool({
  name: "stubborn",
  description: "Works for some seconds and ignores its cancellation",
  effect: "read",
  parameters: z.object({ seconds: z.number().positive().max(60) }),
  timeoutMs: 1_500,
  execute: async ({ seconds }) => {
    await sleep(seconds * 1_000)
    return "done at last, when nobody waited"
  }
})

const charge = tool({
  name: "charge",
  description: "Charges the customer's card",
  parameters: z.object({ dollars: z.number().positive() }),
  key: () => "card",
  execute: async ({ dollars }, { signal }) => {
    await sleep(600, undefined, { signal })
    return `charged ${dollars} dollars`
  }
})

const crash = tool({
  name: "crash",
  description: "Breaks",
  effect: "read",
  execute: async (_, { signal }) => {
    await sleep(200, undefined, { signal })
    throw new Error("the tool broke, as asked")
  }
})

/** All tools. */
export const tools: ReadonlyArray<Tool.Tool> = [weather, slowJob, stubborn, charge, ask, crash, calculateTool]
