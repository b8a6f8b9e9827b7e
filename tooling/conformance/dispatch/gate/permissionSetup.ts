/**
 * Builds the permissions of a case. The original has lists of tool names, whereas tools of this project declare their
 * effects, so its names are passed in the options.
 *
 * @module
 */
import { ok, tool } from "@troupe/chat"
import type { ToolError } from "@troupe/chat/errors"
import type { ToolCall } from "@troupe/chat/messages"
import type { HandlerResult } from "@troupe/chat/results"
import { type Hooks, Permissions, streamToolCalls } from "@troupe/chat/tools"
import { snake, renamed } from "../../chat/values/plain.ts"
import { type Fields, fieldsOf, listOf, textOf } from "../../runner/fields.ts"
import { meanings } from "../dispatchCases.ts"

/** The tools that the original allows in plan mode. */
const planning =
  "read glob grep web_fetch web_search usage_rules plan_mode spawn_agent lsp todo_write ask_user finish".split(" ")

/** The tools that the original allows without a question when edits are accepted. */
const edits = "read glob grep web_fetch web_search usage_rules plan_mode spawn_agent write edit todo_write".split(" ")

/** A case with a shell read needs only one list: the host decides which tools read. */
const readsShell = ({ name, arguments: args }: ToolCall.ToolCall): boolean =>
  name === "bash" && args?.["command"] === "ls -la"

const modes: Readonly<Record<string, string>> = { accept_edits: "acceptEdits", bypass_permissions: "bypass" }

/** A mode by its original name; an unknown name is returned unchanged. */
export const modeOf = (phase: unknown): Permissions.Mode => {
  const name = textOf(phase ?? "default")
  return (modes[name] ?? name) as Permissions.Mode
}

/** Permissions, from a case's words. */
export const permissionsOf = (given: Fields, ask: Permissions.Ask | undefined): Permissions.Permissions => {
  const { readonlyOptIn, phase, allow, deny } = given
  const names = [...planning, ...namesOf(readonlyOptIn)]
  const readOnly = (call: ToolCall.ToolCall) => names.includes(call.name) || readsShell(call)
  const lists = { ...("allow" in given && { allow: namesOf(allow) }), ...("deny" in given && { deny: namesOf(deny) }) }
  return { mode: modeOf(phase), ...lists, readOnly, edits, ask }
}

/** A call of a case. */
export const callOf = (name: unknown, args: Fields = {}): ToolCall.ToolCall => ({
  id: "c1",
  name: textOf(name),
  arguments: args
})

const namesOf = (value: unknown): ReadonlyArray<string> => listOf(value).map(textOf)

/** The verdict on a call. */
export interface Judged {
  readonly verdict: "allow" | "deny" | "halt" | "suspend"
  /** The code of the refusal, if it has one. */
  readonly code?: string | undefined
  readonly metadata?: Fields | undefined
  readonly reason?: string | undefined
  readonly ranWith?: unknown
}

/** Runs one call through the batch of a step, and returns its verdict. */
export const judge = async (
  toolCall: ToolCall.ToolCall,
  permissions: Permissions.Permissions | undefined,
  hooks?: Hooks
): Promise<Judged> => {
  if (permissions?.mode !== undefined && !Permissions.Mode.safeParse(permissions.mode).success)
    return checked(toolCall, permissions)
  let ranWith: unknown
  const spy = tool({
    name: toolCall.name,
    execute: (args) => {
      ranWith = args
      return ok("ran")
    }
  })
  let judged: Judged = { verdict: "suspend" }
  for await (const event of streamToolCalls([toolCall], [spy], { permissions, hooks })) {
    if (event.type === "tool_execution_completed") judged = judgedBy(event.result, ranWith)
    if (event.type === "tool_halt") {
      const reason = event.result === null ? event.reason : `${event.reason}: ${textOf(event.result)}`
      judged = { verdict: "halt", reason }
    }
  }
  return judged
}

const judgedBy = (result: HandlerResult, ranWith: unknown): Judged => {
  if (result.type !== "error") return { verdict: "allow", ranWith }
  const { message: reason, metadata } = result.reason as ToolError
  const { code, ...rest } = metadata ?? {}
  return { verdict: "deny", reason, code: typeof code === "string" ? code : undefined, metadata: renamed(rest, snake) }
}

/** A mode that options do not accept is judged by the part that accepts any. */
const checked = async (toolCall: ToolCall.ToolCall, permissions: Permissions.Permissions): Promise<Judged> => {
  const verdict = Permissions.check(toolCall, undefined, permissions)
  return verdict.type === "ask" ? judge(toolCall, { ...permissions, mode: "default" }) : { verdict: verdict.type }
}

/** A callback that gives the answer of these words. */
export const answering = (word: unknown): Permissions.Ask => {
  const answer = meanings.answers[textOf(word)]
  return () => {
    const { raises } = fieldsOf(answer)
    if (raises !== undefined) throw new Error(textOf(raises))
    return answer as Permissions.Answer
  }
}

/** A verdict in the cases' form: `allow`, `halt`, or `deny` with the code. */
export const wordOf = ({ verdict, code }: Judged): string => (code === undefined ? verdict : `${verdict}:${code}`)
