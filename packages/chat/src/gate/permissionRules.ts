/** The rules that judge a call: its lists and its mode. `Permissions` describes them. */
import { copied } from "../json/index.ts"
import type { Message, ToolCall } from "../model/index.ts"
import { type Mode, modes } from "../record/index.ts"
import type { Awaitable, Tool } from "../tool/index.ts"

/** A refusal: `reason` is for the model, `code` and `metadata` are for programs. */
export interface Denial {
  readonly reason: string
  readonly code: "phase_gated" | "user_denied" | "budget_exceeded" | "sandbox_violation" | "unknown"
  readonly metadata: Readonly<Record<string, unknown>>
}

/**
 * The answers to a question.
 *
 * - `allow`: the call runs; with `arguments`, it runs with these instead, if they fit the tool's schema
 * - `deny`: the call does not run; the model reads the reason
 * - `halt`: the turn ends with the reason; the batch's other calls do not start
 * - `suspend`: the call waits for a later answer (human in the loop), and the turn ends without it
 *
 * A word alone is the answer without its details. An `async` function returns the object form, because TypeScript
 * widens the word to `string`.
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
 * A question to a person: whether this call may run or, with `wants`, whether it may set this permission mode.
 *
 * **Details**: `signal` is aborted when the answer is no longer needed. For a question with `wants`, any answer but
 * `allow` is a refusal: the handler's `setPermissionMode` rejects.
 */
export interface Question {
  readonly toolCall: ToolCall
  readonly tool: Tool | undefined
  readonly mode: Mode
  readonly wants?: Mode | undefined
  readonly context: Readonly<Record<string, unknown>>
  /** The thread before the message of the call; empty for calls without a chat, and with `wants`. Do not change it. */
  readonly messages: ReadonlyArray<Message>
  readonly signal: AbortSignal
}

/**
 * Asks a person about a call.
 *
 * **Contract**: the time to answer is unlimited and counts against no tool's deadline. The next question of the batch
 * comes after the answer. A throw, a rejection, or any value but an {@link Answer} refuses the call with the code
 * `unknown`; the turn goes on.
 */
export type Ask = (question: Question) => Awaitable<Answer>

/** Which calls may run. An absent list restricts nothing; an empty `allow` list refuses every call. */
export interface Permissions {
  /** The mode that the chat begins with. Default: `"default"`. */
  readonly mode?: Mode | undefined
  /** The loosest mode that a call may set without a question (`ToolContext.setPermissionMode`). Default: `mode`. */
  readonly loosest?: Mode | undefined
  /** The only tools that may be called. Default: all. */
  readonly allow?: ReadonlyArray<string> | undefined
  /** Tools that may not be called; this list overrides all other rules. Default: none. */
  readonly deny?: ReadonlyArray<string> | undefined
  /**
   * Further tools that only read, for the mode `plan`: a list of names, or a synchronous function of the call, for tools whose arguments
   * decide. If the function throws, the call does not count as reading.
   */
  readonly readOnly?: ReadonlyArray<string> | ((toolCall: ToolCall) => boolean) | undefined
  /** Tools that `acceptEdits` lets through without a question. Default: none. */
  readonly edits?: ReadonlyArray<string> | undefined
  /** Decides about the calls that the mode does not let through. Default: they run. */
  readonly ask?: Ask | undefined
  /** How long a suspended call waits for a decision before it is refused, in milliseconds. Default: without limit. */
  readonly expiresMs?: number | undefined
}

/** The decision of the lists and the mode about a call. */
export type Verdict =
  | { readonly type: "allow" }
  | { readonly type: "ask" }
  | { readonly type: "deny"; readonly denial: Denial }

/**
 * Judges a call by the lists and the mode: allow, ask or deny.
 *
 * **Details**: pure and total. Of the tool only `effect: "read"` and `metadata.readOnly: true` are read; a tool that
 * does not exist counts as writing. An unknown mode counts as `default`.
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
  standing: { readonly mode?: Mode | undefined } = {}
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

/** Makes a refusal with a code that programs can read. */
export const denial = (
  code: Denial["code"],
  reason: string,
  metadata: Readonly<Record<string, unknown>> = {}
): Denial => ({
  reason,
  code,
  metadata
})

/** Whether a tool declares that it only reads. */
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

const refused = (code: Denial["code"], reason: string, metadata: Denial["metadata"]): Verdict => ({
  type: "deny",
  denial: { reason, code, metadata }
})

/** The looseness of a mode. An unknown mode is looser than all others. */
const rank = (mode: Mode): number => (isMode(mode) ? modes.indexOf(mode) : modes.length)
