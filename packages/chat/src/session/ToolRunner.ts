/**
 * Runs a batch of tool calls.
 *
 * @module
 * @source ALLM.ToolRunner
 */
import { Process, StateMachine } from "@troupe/otp"
import { EngineError, quoted, ValidationError } from "../errors/index.ts"
import { resolveOptions, type StepOptions, toolsFindings } from "../options/index.ts"
import * as Engine from "../options/Engine.ts"
import { EventStream, outletIn, ToolEvents } from "../events/index.ts"
import { newStepId, type Tool, toolFor, callsFindings } from "../tool/index.ts"
import { BatchLife, newCalls, type ToolBatchResult } from "../batch/index.ts"
import { original } from "../values/index.ts"
import { toolCallsMachine } from "../loop/index.ts"
import type { ToolCall, ToolMessage } from "../model/index.ts"
import type { StepHalt } from "../record/index.ts"

export type { ToolEvents } from "../events/index.ts"

/** The options of a batch: the options of a step that concern tools, and the engine for their defaults. */
export interface ToolRunnerOptions extends Pick<
  StepOptions,
  | "toolExecutor"
  | "toolResultEncoder"
  | "maxToolResultCharacters"
  | "maxFileBytes"
  | "onToolError"
  | "toolTimeoutMs"
  | "toolIdleTimeoutMs"
  | "onToolTimeout"
  | "onLateResult"
  | "drainMs"
  | "maxConcurrency"
  | "maxCallsPerReply"
  | "schedule"
  | "haltOrder"
  | "permissions"
  | "hooks"
  | "hookTimeoutMs"
  | "context"
  | "storedMetadata"
  | "sessionId"
  | "requestId"
  | "signal"
  | "system"
  | "tracing"
> {
  /** Has the tools, and the defaults of the options. */
  readonly engine?: Engine.Engine | undefined
}

/** A finished batch: one message for each call, in call order, and the halt that counts, if any. */
export interface ToolRun {
  readonly messages: ReadonlyArray<ToolMessage>
  readonly halt: StepHalt | undefined
}

/**
 * Runs calls concurrently and returns their tool messages in call order.
 *
 * **Errors**: rejects with an `EngineError` (`unknown_tool`) when a call names no tool of `tools`; then nothing runs.
 * Rejects with a `ValidationError` (`invalid_options`) for invalid calls, tools and options. An empty batch is checked,
 * too.
 */
export const runToolCalls = async (
  toolCalls: ReadonlyArray<ToolCall>,
  tools: ReadonlyArray<Tool>,
  options: ToolRunnerOptions = {}
): Promise<ToolRun> => {
  const events = start(toolCalls, tools, options)
  if (events instanceof EngineError) throw events
  if (events === undefined) return { messages: [], halt: undefined }
  for await (const _ of events) {
    // The calls run only while the events are read.
  }
  const result = events.output()
  if (result === undefined) throw new Error("a tool batch ended without a result")
  return { messages: result.outcomes.map((outcome) => outcome.message), halt: result.halt }
}

/**
 * Runs calls concurrently and returns their events in completion order, three in a row for each call.
 *
 * **Details**: nothing runs before the first `next`. For an unknown tool the stream is a single `error` event, and
 * nothing runs. Leaving the loop ends the running calls.
 */
export const streamToolCalls = (
  toolCalls: ReadonlyArray<ToolCall>,
  tools: ReadonlyArray<Tool>,
  options: ToolRunnerOptions = {}
): ToolEvents => new ToolEvents(() => start(toolCalls, tools, options))

const start = (
  toolCalls: ReadonlyArray<ToolCall>,
  tools: ReadonlyArray<Tool>,
  { engine, ...options }: ToolRunnerOptions
): EventStream<ToolBatchResult> | EngineError | undefined => {
  checkBatch(toolCalls, tools)
  const resolved = resolveOptions({ ...(engine ?? Engine.make({})), tools }, options)
  if (toolCalls.length === 0) return undefined
  const unknown = toolCalls.find((call) => toolFor(resolved.toolsByName, call) === undefined)
  if (unknown !== undefined) {
    return new EngineError("unknown_tool", {
      message: `There is no tool ${quoted(unknown.name)}; add it to the tools`,
      metadata: { toolName: unknown.name, toolCallId: unknown.id }
    })
  }
  const outlet = outletIn(resolved.system)
  const { toolsByName, signal, drainMs, trace } = resolved
  signal?.throwIfAborted()
  const input = {
    calls: newCalls(toolCalls, resolved),
    stepId: newStepId(resolved.system),
    toolsByName,
    options: resolved,
    outlet
  }
  const begin = () => {
    const pid = StateMachine.start(resolved.system, toolCallsMachine, {
      input: { id: "" },
      env: Object.assign(new BatchLife(), { batch: () => input })
    })
    const output = (): ToolBatchResult | undefined => {
      const { ending } = StateMachine.snapshot(pid).context.step ?? {}
      return ending?.type === "called" ? original(ending.result) : undefined
    }
    return { pid, output, cancel: () => Process.send(pid, { type: "turn.cancel" }) }
  }
  return new EventStream(outlet, { start: begin, signal, drainMs, trace })
}

const checkBatch = (toolCalls: unknown, tools: unknown): void => {
  const found = [...callsFindings("toolCalls", toolCalls), ...toolsFindings("tools", tools)]
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}
