/**
 * Tools of a provider: the provider declares them, and often runs them itself.
 *
 * PAPPROVAL1. A call with `metadata.approval` is a provider's question whether it may run a call of its own. It is judged as a call
 *             that writes, by its name. Where a mode asks and there is no `ask`, it waits for a decision.
 * PAPPROVAL2. The result of such a call is the decision: its outcome is `completed` only if the call was allowed. Its arguments cannot
 *             be edited, nor its result given, since the provider runs it.
 */
import * as z from "zod"
import { dictionary, findingsFor, isObject, unknownName, ValidationError } from "../errors/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"
import { make } from "./Tool.ts"
import { foreignParts, providerToolId } from "./toolChecks.ts"
import type { ProviderTool, Tool } from "./toolContract.ts"

const parts = {
  type: z.literal("provider"),
  id: providerToolId,
  name: z.unknown().optional(),
  args: dictionary.nullish(),
  metadata: dictionary.nullish()
}

const declared = z.strictObject({ ...foreignParts, ...parts })

/** Whether a value is a provider's tool, valid or not. */
export const isProviderTool = (value: unknown): value is ProviderTool =>
  isObject(value) && Reflect.get(value, "type") === "provider" && !("parse" in value)

/**
 * A tool of any kind as a tool. The caller answers those calls of a provider's tool that the provider does not run itself.
 *
 * **Errors**: throws a `ValidationError` (`invalid_tool`) that names each unknown or bad part of a provider's tool.
 */
export const toolOf = (value: Tool | ProviderTool): Tool => {
  if (!isProviderTool(value)) return value
  const given = Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined))
  const found = findingsFor(declared, { id: undefined, ...given }, (part) =>
    part === "execute" ? runsHere(value) : unknownName(part, Object.keys(parts))
  )
  if (found.length > 0) throw new ValidationError("invalid_tool", found)
  const { id, name, args, metadata } = value
  return make({ name, provider: { id, args: args ?? {} }, metadata: metadata ?? {}, manual: true })
}

const runsHere = ({ id }: ProviderTool): string =>
  `is for a tool that runs here: write tool({ name, provider: { id: "${id}", args }, execute })`

/** Whether a call is a provider's question whether it may run the call (PAPPROVAL1). */
export const isProviderApproval = ({ metadata }: ToolCall): boolean => metadata?.["approval"] !== undefined

/** The tool that allows a provider to run a call, once a call needs it. */
let providerApproval: Tool | undefined

/** The tool of a call: by its name, or the one that allows a provider to run the call. */
export const toolFor = (tools: ReadonlyMap<string, Tool>, call: ToolCall): Tool | undefined =>
  isProviderApproval(call)
    ? (providerApproval ??= make({ name: "provider_approval", handler: () => HandlerResult.ok("allowed") }))
    : tools.get(call.name)
