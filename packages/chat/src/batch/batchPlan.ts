/** What a call touches, as its tool declares it. */
import type * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"
import { ignoreRejection, isPromiseLike } from "../async/index.ts"
import { copied } from "../json/index.ts"
import { type Access, type Plan, planOf } from "./startOrder.ts"
import { toolFailure } from "../call/index.ts"
import type { ParsedArguments, Tool } from "../tool/index.ts"
import { describe } from "../toolResult/index.ts"
import type { Schedule } from "../options/index.ts"

/** The order of a batch, and the calls that cannot be ordered, by position. */
export interface BatchPlan {
  readonly plan: Plan
  /** What each call touches, by position; empty where that does not matter. */
  readonly accesses: ReadonlyArray<Access | undefined>
  /** What the tool's `key` did wrong; such a call does not run. */
  readonly faults: ReadonlyMap<number, HandlerResult.Failed>
}

/** The order of these calls. Those that are `settled` already touch nothing, as those of unknown tools. */
export const planOfBatch = (
  toolCalls: ReadonlyArray<ToolCall>,
  toolsByName: ReadonlyMap<string, Tool>,
  settled: (position: number) => boolean,
  schedule: Schedule
): BatchPlan => {
  let faults: Map<number, HandlerResult.Failed> | undefined
  const access = (toolCall: ToolCall, position: number): Access | undefined => {
    if (settled(position)) return undefined
    const tool = toolsByName.get(toolCall.name)
    if (tool === undefined) return schedule === "reference" ? { effect: "write" } : undefined
    if (schedule === "reference" || tool.key === undefined) return { effect: tool.effect }
    const found = keyOf(tool, toolCall)
    if (typeof found !== "object") return { effect: tool.effect, key: found }
    faults ??= new Map()
    faults.set(position, found)
    return undefined
  }
  const accesses = schedule === "concurrent" ? [] : toolCalls.map(access)
  return { plan: planOf(toolCalls, (_, position) => accesses[position], schedule), accesses, faults: faults ?? none }
}

/**
 * The order of those that are left. A call that ended before its turn does not end its place in the plan: others behind it
 * wait there for calls in front of it. The new plan gives every call that waits for none: those that were given before are
 * given again, and are to be left alone.
 */
export const planWithout = (order: BatchPlan, isOver: (position: number) => boolean, schedule: Schedule): BatchPlan => {
  if (schedule === "concurrent") return order
  const accesses = order.accesses.map((access, position) => (isOver(position) ? undefined : access))
  return { plan: planOf(accesses, (access) => access, schedule), accesses, faults: order.faults }
}

const none: BatchPlan["faults"] = new Map()

/**
 * The key of a call, or what is wrong with it.
 *
 * A key is asked for with arguments that fit. Where they do not, or are only checked later, there is none: the call's own
 * execution says what is wrong with them.
 */
export const keyOf = ({ name, parse, key }: Tool, toolCall: ToolCall): string | undefined | HandlerResult.Failed => {
  const { arguments: args } = toolCall
  const parsed = args === null || key === undefined ? undefined : parsedNow(parse, args)
  if (parsed === undefined) return undefined
  let found: unknown
  try {
    found = key?.(parsed)
  } catch (thrown) {
    return toolFailure(toolCall, "handler_raised", `the key of ${name} raised: ${describe(thrown)}`, thrown)
  }
  if (found === undefined || typeof found === "string") return found
  ignoreRejection(found)
  const message = `the key of ${name} is ${describe(found)}; return text, or undefined for none`
  return toolFailure(toolCall, "invalid_return", message, found)
}

/** The arguments as the tool's schema makes them, if that can be said at once. */
const parsedNow = (parse: Tool["parse"], args: Record<string, unknown>): Record<string, unknown> | undefined => {
  let parsed: ParsedArguments | PromiseLike<ParsedArguments>
  try {
    parsed = parse(copied(args))
  } catch {
    return undefined
  }
  if (isPromiseLike(parsed)) {
    ignoreRejection(parsed)
    return undefined
  }
  return parsed.valid ? parsed.arguments : undefined
}
