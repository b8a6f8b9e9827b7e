import { expect, test } from "vitest"
import type { StepHalt, StepResult } from "../../src/record/StepResult.ts"
import { chatResult, type Standing, terminalCondition } from "../../src/step/stopReason.ts"
import type { FinishReason } from "../../src/model/Response.ts"

const call = { id: "c0", name: "t", arguments: {} }

interface Given {
  readonly halt?: StepHalt
  readonly error?: unknown
  readonly manual?: boolean
  readonly mode?: "auto" | "manual"
  readonly finish?: FinishReason | null
}

const step = ({ halt, error, manual = false, mode = "auto", finish = "tool_calls" }: Given): StepResult => ({
  thread: { messages: [] },
  response: { outputText: "", toolCalls: [call], finishReason: finish, usage: {}, metadata: { error: "bad" } },
  toolResults: [],
  done: false,
  mode,
  halt,
  manualToolCalls: manual ? [call] : [],
  truncatedToolCalls: [],
  ...(error === undefined ? {} : { error })
})

/** The conditions in their order: what makes each hold, and what it gives. */
const conditions: ReadonlyArray<readonly [name: string, given: Given, reason: string]> = [
  ["question", { halt: { type: "question", toolCallId: "c0", question: "q", options: {} } }, "ask_user"],
  ["tool error", { halt: { type: "tool_error", toolCallId: "c0", error: "no" } }, "tool_error"],
  ["handler halt", { halt: { type: "halt", toolCallId: "c0", reason: "budget", result: 1 } }, "budget"],
  ["cancelled step", { halt: { type: "cancelled" } }, "cancelled"],
  ["step error", { error: "unknown" }, "error"],
  ["manual calls", { manual: true }, "manual_tool_calls"],
  ["manual mode", { mode: "manual" }, "manual_tool_calls"],
  ["request error", { finish: "error" }, "error"],
  ["final answer", { finish: "stop" }, "completed"]
]

const going: Standing = { stopped: undefined, steps: [] }
const cancelled: Standing = { stopped: "cancelled", steps: [] }

const asking = { haltWhen: () => true, maxTurns: 1 }
const silent = {
  haltWhen: (): boolean => {
    throw new Error("asked")
  },
  maxTurns: 1
}

test.each(conditions)("TERM1 %s alone ends the chat", (_name, given, reason) => {
  expect(terminalCondition(step(given), 0, { haltWhen: undefined, maxTurns: 8 }, going)?.reason).toBe(reason)
})

test("TERM1 of two conditions the earlier decides", () => {
  conditions.forEach(([, earlier, reason], index) => {
    for (const [, later] of conditions.slice(index + 1)) {
      const both = { ...later, ...earlier }
      expect(terminalCondition(step(both), 0, asking, cancelled)?.reason).toBe(reason)
    }
  })
})

test("TERM2 haltWhen is asked only when nothing before it held", () => {
  for (const [, given] of conditions) expect(() => terminalCondition(step(given), 0, silent, going)).not.toThrow()
  expect(() => terminalCondition(step({}), 0, silent, cancelled)).not.toThrow()
  expect(() => terminalCondition(step({}), 0, silent, going)).toThrow("asked")
})

test("TERM2 maxTurns counts only after haltWhen said no", () => {
  expect(terminalCondition(step({}), 0, asking, going)?.reason).toBe("halt_when")
  expect(terminalCondition(step({}), 0, { haltWhen: () => false, maxTurns: 1 }, going)?.reason).toBe("max_turns")
  expect(terminalCondition(step({}), 0, { haltWhen: undefined, maxTurns: 2 }, going)).toBeUndefined()
  expect(terminalCondition(step({}), 0, asking, cancelled)?.reason).toBe("cancelled")
})

test("manual calls stay pending beside any halt or error", () => {
  for (const [, given] of conditions.filter(([, { halt, error }]) => halt !== undefined || error !== undefined)) {
    const terminal = terminalCondition(step({ ...given, manual: true }), 0, asking, going)
    expect(terminal?.pendingToolCalls).toEqual([call])
  }
})

test("only a question adds a message to the thread", () => {
  for (const [name, given] of conditions) {
    const terminal = terminalCondition(step(given), 0, asking, going)
    if (terminal === undefined) throw new Error("not terminal")
    expect(chatResult({ messages: [] }, [], terminal).thread.messages).toHaveLength(name === "question" ? 1 : 0)
  }
})
