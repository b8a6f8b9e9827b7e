/** The access of each call: its effect, and the key that its tool declares; and the failure of a call without a tool. */
import { closestName, quoted, ToolError, type ToolErrorReason } from "../errors/index.ts"
import { toolFailure } from "../call/index.ts"
import type * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"
import { ignoreRejection, isPromiseLike } from "../async/index.ts"
import { copied } from "../json/index.ts"
import type { ParsedArguments, Tool } from "../tool/index.ts"
import { describe } from "../values/index.ts"
import type { Schedule } from "../options/index.ts"
import type { Access } from "./nextCalls.ts"

/** What the accesses of calls depend on. */
export interface AccessRules {
  readonly tools: ReadonlyMap<string, Tool>
  readonly schedule: Schedule
  /** Whether a call will not run, by its position. Such a call has no access, and its tool's `key` is not called. */
  readonly isOver: (index: number) => boolean
  /** The access of a call of an unknown tool. */
  readonly unknown: Access | undefined
}

/** The accesses of calls, by position, and the errors of calls whose key failed. Such a call must not run. */
export interface CallAccesses {
  readonly accesses: ReadonlyArray<Access | undefined>
  readonly faults: ReadonlyMap<number, ToolError>
}

/** The accesses of these calls. Under `concurrent` no call has one, and under `reference` no call has a key. */
export const accessesOf = (calls: ReadonlyArray<ToolCall>, rules: AccessRules): CallAccesses => {
  const { tools, schedule, isOver, unknown } = rules
  if (schedule === "concurrent") return { accesses: [], faults: none }
  const faults = new Map<number, ToolError>()
  const accesses = calls.map((toolCall, index): Access | undefined => {
    if (isOver(index)) return undefined
    const tool = tools.get(toolCall.name)
    if (tool === undefined) return unknown
    if (schedule === "reference" || tool.key === undefined) return { effect: effectOf(tool) }
    const key = keyOf(tool, toolCall)
    if (!(key instanceof ToolError)) return { effect: effectOf(tool), key }
    faults.set(index, key)
    return undefined
  })
  return { accesses, faults }
}

const none: CallAccesses["faults"] = new Map()

/** A call that only begins a background task changes nothing. */
const effectOf = ({ effect, background }: Tool): Tool["effect"] => (background?.afterMs === 0 ? "read" : effect)

/**
 * The key of a call, or the error of the `key` function.
 *
 * `key` is called only with arguments that fit the schema. When they do not fit, or the schema checks them
 * asynchronously, the call has no key, and its execution reports the invalid arguments.
 */
const keyOf = ({ name, parse, key }: Tool, toolCall: ToolCall): string | undefined | ToolError => {
  const { arguments: args } = toolCall
  const parsed = args === null || key === undefined ? undefined : parsedNow(parse, args)
  if (parsed === undefined) return undefined
  let found: unknown
  try {
    found = key?.(parsed)
  } catch (thrown) {
    return keyError(toolCall, "handler_raised", `the key of ${name} raised: ${describe(thrown)}`, thrown)
  }
  if (found === undefined || typeof found === "string") return found
  ignoreRejection(found)
  const message = `the key of ${name} is ${describe(found)}; return text, or undefined for none`
  return keyError(toolCall, "invalid_return", message, found)
}

const keyError = ({ id, name }: ToolCall, reason: ToolErrorReason, message: string, cause: unknown): ToolError =>
  new ToolError(reason, { message, toolName: name, toolCallId: id, ...(cause !== undefined && { cause }) })

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

/** The failure of an unknown tool; its text lists the tools and suggests the closest name. */
export const notFound = (toolCall: ToolCall, tools: ReadonlyMap<string, Tool>): HandlerResult.Failed => {
  const meant = closestName(toolCall.name, tools.keys())
  const known = tools.size === 0 ? "there are no tools" : `the tools are ${[...tools.keys()].join(", ")}`
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`
  return toolFailure(toolCall, "not_found", `there is no tool ${quoted(toolCall.name)}; ${known}${hint}`)
}
