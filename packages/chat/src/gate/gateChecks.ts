/** What permissions and hooks may be; what may not be is named by its path, with what is allowed there. */
import type { Finding } from "../errors/ChatError.ts"
import type { HookEvent, Hooks, ToolHookEvent } from "./Hooks.ts"
import { isMode, modes, type Permissions } from "./Permissions.ts"
import { groupFindings } from "./hookGroup.ts"

type Findings = ReadonlyArray<Finding>

const asFunction = (value: unknown): string | undefined =>
  typeof value === "function" ? undefined : "must_be_a_function"

const names = (value: unknown): string | undefined =>
  Array.isArray(value) && value.every((name) => typeof name === "string") ? undefined : "must_be_a_list of tool names"

const mode = (value: unknown): string | undefined => (isMode(value) ? undefined : `must_be_one_of ${modes.join(", ")}`)

const parts: { readonly [Part in keyof Required<Permissions>]: (value: unknown) => string | undefined } = {
  mode,
  loosest: mode,
  allow: names,
  deny: names,
  readOnly: (value) =>
    typeof value === "function" || names(value) === undefined
      ? undefined
      : "must_be_a_list of tool names, or a function of a call",
  edits: names,
  ask: asFunction,
  expiresMs: (value) => (typeof value === "number" && value >= 0 ? undefined : "must_be_milliseconds")
}

/** Checks permissions. */
export const permissions = (value: unknown): string | Findings | undefined => {
  if (!isObject(value)) return `must_be_an_object of ${Object.keys(parts).join(", ")}`
  return Object.entries(value).flatMap(([part, given]): Findings => {
    if (!Object.hasOwn(parts, part)) return [{ field: [part], reason: `unknown; use ${Object.keys(parts).join(", ")}` }]
    const wrong = given === undefined ? undefined : parts[part as keyof Permissions](given)
    return wrong === undefined ? [] : [{ field: [part], reason: wrong }]
  })
}

/** The events, and whether their hooks are about a tool, so that groups are allowed. */
const events: { readonly [Event in HookEvent]: Event extends ToolHookEvent ? true : false } = {
  SessionStart: false,
  UserPromptSubmit: false,
  ChatParams: false,
  PreIteration: false,
  PermissionRequest: true,
  PreToolUse: true,
  PermissionDenied: true,
  ToolDenied: true,
  PostToolUse: true,
  PostToolUseFailure: true,
  Stop: false,
  StopFailure: false,
  SessionEnd: false
}

/** Checks hooks. */
export const hooks = (value: unknown): string | Findings | undefined => {
  if (!isObject(value)) return `must_be_an_object of ${Object.keys(events).join(", ")}`
  return Object.entries(value).flatMap(([event, list]): Findings => {
    if (!Object.hasOwn(events, event))
      return [{ field: [event], reason: `unknown; use ${Object.keys(events).join(", ")}` }]
    if (list === undefined) return []
    if (!Array.isArray(list)) return [{ field: [event], reason: "must_be_a_list of functions" }]
    const grouped = events[event as keyof Hooks]
    return list.flatMap((one: unknown, index) =>
      hookFindings(one, grouped).map(({ field, reason }) => ({ field: [event, index, ...field], reason }))
    )
  })
}

const hookFindings = (one: unknown, grouped: boolean): Findings => {
  if (typeof one === "function") return []
  if (!grouped) return [{ field: [], reason: "must_be_a_function; only the events of tools take groups" }]
  if (!isObject(one)) return [{ field: [], reason: "must_be_a_function, or a group { match, hooks }" }]
  const group = groupFindings(one)
  const { match: _, hooks: __, ...rest } = one as { readonly match?: unknown; readonly hooks?: unknown }
  return [...Object.keys(rest).map((field) => ({ field: [field], reason: "unknown; use match, hooks" })), ...group]
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)
