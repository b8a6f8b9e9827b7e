/**
 * Permissions: which tool calls may run, and who is asked.
 *
 * A call is judged in this order: the `deny` list, the `allow` list, the mode, the person asked by `ask`, and last the
 * `PreToolUse` hooks. {@link check} decides the first three on its own, from the call and what the tool says of itself.
 *
 * | mode          | lets through without a question                 | asks about        | refuses                    |
 * | ------------- | ----------------------------------------------- | ----------------- | -------------------------- |
 * | `plan`        | nothing                                         | what only reads   | whatever does not only read |
 * | `default`     | nothing                                         | every call        | nothing                    |
 * | `acceptEdits` | tools that only read, and the tools of `edits`  | every other call  | nothing                    |
 * | `trusted`     | every call                                      | nothing           | nothing                    |
 * | `bypass`      | every call                                      | nothing           | nothing                    |
 *
 * Where nobody can be asked, what would be asked about runs. The lists hold in every mode.
 *
 * @module
 */
import { copied } from "../json/index.ts"
import type { ToolCall } from "../model/index.ts"
import { type Mode, modes } from "../record/index.ts"
import type { Awaitable, Tool } from "../tool/index.ts"

export { Mode, modes } from "../record/index.ts"

/**
 * Why a call was refused, for a program.
 *
 * - `phase_gated`: the mode forbids it
 * - `user_denied`: a list or a person refused it
 * - `budget_exceeded`, `sandbox_violation`: for hooks, which know such things
 * - `unknown`: there was no answer that means anything
 */
export type DenialCode = "phase_gated" | "user_denied" | "budget_exceeded" | "sandbox_violation" | "unknown"

/** A refusal: `reason` is what the model reads, `metadata` what a program wants to know beside the code. */
export interface Denial {
  readonly reason: string
  readonly code: DenialCode
  readonly metadata: Readonly<Record<string, unknown>>
}

/**
 * What whoever is asked can answer.
 *
 * - `allow`: run it; with `arguments`, run it with those instead, once they fit the tool's schema
 * - `deny`: the model reads the reason
 * - `halt`: the turn ends with the reason; the batch's other calls do not start
 * - `suspend`: nobody knows yet; the call waits, and the turn ends without it
 *
 * A word alone is the answer without its details; an `async` function answers with
 * the object, since TypeScript takes the word for any text.
 */
export type Answer =
  | "allow"
  | "deny"
  | "halt"
  | "suspend"
  | { readonly type: "allow"; readonly arguments?: Readonly<Record<string, unknown>> | undefined }
  | { readonly type: "deny"; readonly reason?: unknown }
  | { readonly type: "halt"; readonly reason?: string | undefined }
  | { readonly type: "suspend" }

/**
 * What somebody is asked: whether this call may run; or, with `wants`, whether it may make that the mode of the run.
 *
 * **Details**: `signal` is aborted when nobody waits for the answer any more. To a question with `wants` anything but `allow`
 * is a refusal, which the handler is told.
 */
export interface Question {
  readonly toolCall: ToolCall
  readonly tool: Tool | undefined
  readonly mode: Mode
  readonly wants?: Mode | undefined
  readonly context: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
}

/**
 * Asks somebody about a call.
 *
 * **Contract**: answer in your own time; it counts against no tool's deadline, and the next question of the batch comes
 * after the answer. A throw, a rejection, or anything but an {@link Answer} refuses the call with the code `unknown`: what
 * was not allowed does not run, and the turn goes on.
 */
export type Ask = (question: Question) => Awaitable<Answer>

/**
 * Which calls may run.
 *
 * **Units and defaults**: `mode` is `"default"`, `loosest` is the mode. No list restricts anything; an empty `allow` list refuses every call.
 * `expiresMs` are milliseconds after which a suspended call is refused; never by default.
 */
export interface Permissions {
  readonly mode?: Mode | undefined
  /** The loosest mode that a call may set without a question (`ToolContext.setPermissionMode`). */
  readonly loosest?: Mode | undefined
  /** The only tools that may be called. */
  readonly allow?: ReadonlyArray<string> | undefined
  /** Tools that may not be called, whatever else is said. */
  readonly deny?: ReadonlyArray<string> | undefined
  /**
   * Tools that only read, beside those that say so themselves: by name, or by call, for a tool that reads or writes as its
   * arguments say. The function is synchronous; if it throws, the call does not count as reading.
   */
  readonly readOnly?: ReadonlyArray<string> | ((toolCall: ToolCall) => boolean) | undefined
  /** Tools that `acceptEdits` lets through without a question. */
  readonly edits?: ReadonlyArray<string> | undefined
  readonly ask?: Ask | undefined
  readonly expiresMs?: number | undefined
}

/** What the lists and the mode say of a call. */
export type Verdict =
  | { readonly type: "allow" }
  | { readonly type: "ask" }
  | { readonly type: "deny"; readonly denial: Denial }

/** What counts beside the permissions: the mode a run is in, where it is not the one it was given. */
export interface Standing {
  readonly mode?: Mode | undefined
}

/**
 * Judges a call by the lists and the mode: whether it runs, is asked about, or is refused.
 *
 * **Details**: pure and total. It looks at the tool only to see whether it only reads (`effect: "read"`, or
 * `metadata.readOnly: true`); a tool that does not exist does not. A mode nobody defined counts as `default`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { tool } from "@troupe/chat"
 * import { Permissions } from "@troupe/chat/tools"
 *
 * const remove = tool({ name: "remove", execute: () => "removed" })
 * const call = { id: "1", name: "remove", arguments: {} }
 * Permissions.check(call, remove, { mode: "trusted" }) // => { type: "allow" }
 * const verdict = Permissions.check(call, remove, { mode: "plan" })
 * verdict.type === "deny" && verdict.denial.code // => "phase_gated"
 * ```
 */
export const check = (
  toolCall: ToolCall,
  tool: Tool | undefined,
  permissions: Permissions,
  standing: Standing = {}
): Verdict => {
  const { name } = toolCall
  const { allow, deny, edits, ask } = permissions
  const mode = standing.mode ?? permissions.mode ?? "default"
  const asked: Verdict = ask === undefined ? allowed : { type: "ask" }
  if (deny?.includes(name) === true) {
    return refused("user_denied", `${name} is on the list of tools that may not be called`, { requestedTool: name })
  }
  if (allow !== undefined && !allow.includes(name)) {
    const metadata = { requestedTool: name, allowedTools: allow }
    return refused("user_denied", `${name} is not on the list of tools that may be called`, metadata)
  }
  switch (mode) {
    case "plan":
      if (onlyReads(tool) || isListed(toolCall, permissions)) return asked
      return refused("phase_gated", `${name} may not run while planning: it may change something`, {
        requestedTool: name,
        mode
      })
    case "acceptEdits":
      return onlyReads(tool) || edits?.includes(name) === true ? allowed : asked
    case "trusted":
    case "bypass":
      return allowed
    default:
      return asked
  }
}

/**
 * The stricter of two modes.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Permissions } from "@troupe/chat/tools"
 *
 * Permissions.clamp("trusted", "plan") // => "plan"
 * ```
 */
export const clamp = (one: Mode, other: Mode): Mode => (rank(other) < rank(one) ? other : one)

/** Whether a value names a mode. */
export const isMode = (value: unknown): value is Mode => modes.some((mode) => mode === value)

/** A refusal, for a hook that refuses for a program to understand. */
export const denial = (code: DenialCode, reason: string, metadata: Readonly<Record<string, unknown>> = {}): Denial => ({
  reason,
  code,
  metadata
})

/** Whether a tool says of itself that it only reads. */
const onlyReads = (tool: Tool | undefined): boolean =>
  tool !== undefined && (("effect" in tool && tool.effect === "read") || tool.metadata["readOnly"] === true)

const isListed = (toolCall: ToolCall, { readOnly }: Permissions): boolean => {
  if (typeof readOnly !== "function") return readOnly?.includes(toolCall.name) === true
  try {
    const answer: unknown = readOnly(copied(toolCall))
    return answer === true
  } catch {
    return false
  }
}

const allowed: Verdict = { type: "allow" }

const refused = (code: DenialCode, reason: string, metadata: Denial["metadata"]): Verdict => ({
  type: "deny",
  denial: { reason, code, metadata }
})

/** A mode nobody defined is looser than all. */
const rank = (mode: Mode): number => (isMode(mode) ? modes.indexOf(mode) : modes.length)
