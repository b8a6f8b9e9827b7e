/** Tools of a provider: the provider declares them, and often runs them itself. */
import * as z from "zod"
import { dictionary, findingsFor, isObject, unknownName, ValidationError } from "../errors/index.ts"
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
