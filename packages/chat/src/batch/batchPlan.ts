/** The effect and key of each call, as its tool declares them, and the plan of the batch. */
import type * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"
import { ignoreRejection, isPromiseLike } from "../async/index.ts"
import { copied } from "../json/index.ts"
import { type Access, type Plan, planOf } from "./startOrder.ts"
import { toolFailure } from "../call/index.ts"
import type { ParsedArguments, Tool } from "../tool/index.ts"
import { describe } from "../toolResult/index.ts"
import type { Schedule } from "../options/index.ts"

/** The plan of a batch, and the calls whose key failed, by position. */
export interface BatchPlan {
  readonly plan: Plan
  /** The access of each call, by position; empty under the schedule `concurrent`. */
  readonly accesses: ReadonlyArray<Access | undefined>
  /** The failures of the tools' `key` functions. Such a call does not run. */
  readonly faults: ReadonlyMap<number, HandlerResult.Failed>
}

/** The plan of these calls. Settled calls have no access; calls of unknown tools have one only under `reference`. */
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
 * The plan of the calls that are left. A call that ended before its turn still has its place in the old plan, where later
 * calls wait behind it. The new plan returns every call that waits for no other, also the calls that the old plan
 * returned: the caller skips those.
 */
export const planWithout = (order: BatchPlan, isOver: (position: number) => boolean, schedule: Schedule): BatchPlan => {
  if (schedule === "concurrent") return order
  const accesses = order.accesses.map((access, position) => (isOver(position) ? undefined : access))
  return { plan: planOf(accesses, (access) => access, schedule), accesses, faults: order.faults }
}

const none: BatchPlan["faults"] = new Map()

/**
 * The key of a call, or the failure of the `key` function.
 *
 * `key` is called only with arguments that fit the schema. When they do not fit, or the schema checks them
 * asynchronously, the call has no key, and its execution reports the invalid arguments.
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

/** The arguments as the tool's schema parses them; `undefined` if they do not fit or the schema is asynchronous. */
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
