/** The schemas of permissions and hooks. A finding names the path of an invalid value and the expected value. */
import * as z from "zod"
import { functionOf, isRecord, milliseconds, partsOf, wordOf } from "../errors/index.ts"
import { modes } from "../record/index.ts"
import { groupFindings, isHook } from "./hookGroup.ts"
import type { HookEvent, ToolHookEvent } from "./Hooks.ts"
import type { Permissions } from "./permissionRules.ts"

const areNames = (value: unknown): boolean => Array.isArray(value) && value.every((name) => typeof name === "string")
const toolNames = z.custom(areNames, "must_be_a_list of tool names").optional()
const mode = wordOf(...modes).optional()

/** The type of permissions. */
export const permissions: z.ZodType = partsOf({
  mode,
  loosest: mode,
  allow: toolNames,
  deny: toolNames,
  readOnly: z
    .custom(
      (value) => (typeof value === "function" && value.length <= 1) || areNames(value),
      "must_be_a_list of tool names, or a function of a call"
    )
    .optional(),
  edits: toolNames,
  ask: functionOf(1, "the question").optional(),
  expiresMs: milliseconds.optional()
} satisfies { readonly [Part in keyof Required<Permissions>]: z.ZodType })

const lifecycleHook = z.custom(
  isHook,
  "must_be_a_function of the payload and the context; only the events of tools take groups"
)

/** A function, or a group of functions for the tools whose names match. */
const toolHook = z
  .custom(
    (value) => isHook(value) || isRecord(value),
    "must_be_a_function of the payload and the context, or a group { match, hooks }"
  )
  .superRefine((value, context) => {
    if (!isRecord(value)) return
    const unknown = Object.keys(value).filter((name) => name !== "match" && name !== "hooks")
    for (const name of unknown) {
      context.addIssue({ code: "custom", message: "unknown; use match, hooks", path: [name] })
    }
    for (const { field, reason } of groupFindings(value)) {
      context.addIssue({ code: "custom", message: reason, path: [...field] })
    }
  })

const ofLifecycle = z.array(lifecycleHook, "must_be_a_list of functions").optional()
const ofTools = z.array(toolHook, "must_be_a_list of functions").optional()

/** The type of hooks. */
export const hooks: z.ZodType = partsOf({
  SessionStart: ofLifecycle,
  UserPromptSubmit: ofLifecycle,
  ChatParams: ofLifecycle,
  PreIteration: ofLifecycle,
  PermissionRequest: ofTools,
  PreToolUse: ofTools,
  PermissionDenied: ofTools,
  ToolDenied: ofTools,
  PostToolUse: ofTools,
  PostToolUseFailure: ofTools,
  Stop: ofLifecycle,
  StopFailure: ofLifecycle,
  SessionEnd: ofLifecycle
} satisfies { readonly [Event in HookEvent]: Event extends ToolHookEvent ? typeof ofTools : typeof ofLifecycle })
