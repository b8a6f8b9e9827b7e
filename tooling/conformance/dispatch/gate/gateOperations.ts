/**
 * Runs the recorded calls of a gate: permissions, then hooks, before one call of `bash`.
 *
 * @module
 */
import type { ToolCall } from "@troupe/chat/messages"
import type { Hooks, Permissions } from "@troupe/chat/tools"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { unexaminedCase } from "../../runner/suite.ts"
import { compared, type Operation, type Operations, meanings } from "../dispatchCases.ts"
import { hookOf, hooksOf, plain, printed } from "./hookOperations.ts"
import { answering, callOf, type Judged, judge, permissionsOf } from "./permissionSetup.ts"

const bash = callOf("bash", { command: "ls" })

const preToolGate: Operation = async ({ recorded, expected }) => {
  const title = textOf(recorded["title"])
  const setup = meanings.gates[title]
  if (setup === undefined) return unexaminedCase(`a recorded run that only its title describes: ${title}`)
  const { permissions, answer, before = ["spy"], refused = "spy" } = fieldsOf(setup)
  const log: Array<unknown> = []
  const noting = (hook: string, list: unknown) =>
    hooksOf(list, (payload) =>
      log.push({ hook, id: "c1", tool: fieldsOf(payload)["toolName"], keys: keysOf(hook, fieldsOf(payload)) })
    )
  const hooks: Hooks = {
    PreToolUse: noting("PreToolUse", before),
    PermissionDenied: noting("PermissionDenied", [refused]),
    ToolDenied: noting("ToolDenied", [refused])
  }
  const asked = answer === undefined ? permissions : { ask: answering(answer) }
  const raised = (thrown: unknown): unknown => ({ raised: thrown instanceof Error ? thrown.name : thrown })
  const result = await judge(bash, asked as Permissions.Permissions | undefined, hooks).then(said, raised)
  const required = { result: withoutSentence(printed(expected["result"])), hookLog: expected["hookLog"] }
  return compared({ result, hookLog: log }, { expected: required })
}

/** The keys of a payload in the original's names; before a call they include its arguments. */
const keysOf = (hook: string, payload: Fields): ReadonlyArray<string> => {
  if (hook === "PreToolUse") return [...Object.keys(fieldsOf(payload["arguments"])), "tool_name"]
  const originals: Readonly<Record<string, string>> = { toolName: "tool_name", toolCall: "tool_use_id" }
  return Array.from(Object.keys(payload), (key) => originals[key] ?? key).toSorted()
}

/** The verdict on the call, in the recordings' form. */
const said = ({ verdict, code, metadata = {}, reason }: Judged): unknown => {
  if (verdict !== "deny") return verdict === "halt" ? { halt: reason } : verdict
  const raw = "raw" in metadata ? { raw: textOf(metadata["raw"]) } : {}
  return { deny: code === undefined ? reason : { denial: { code, metadata: { ...metadata, ...raw } } } }
}

/** A refusal without its message, which differs between the libraries. */
const withoutSentence = (result: unknown): unknown => {
  const { deny, raised } = fieldsOf(result)
  if (raised !== undefined) return { raised: "ValidationError" }
  if (!isFields(deny)) return result
  const { reason: _, metadata, ...denial } = fieldsOf(deny["denial"])
  const { raw, ...rest } = fieldsOf(metadata)
  return { deny: { denial: { ...denial, metadata: raw === undefined ? rest : { ...rest, raw: plain(textOf(raw)) } } } }
}

const gate: Operation = async ({ given, when, expected }) => {
  const { tool, id, name } = fieldsOf(when["gate"])
  const call = { id: textOf(id ?? "c1"), name: textOf(tool ?? name), arguments: {} }
  if ("questionReceives" in expected) return compared({ questionReceives: await questionAbout(call) }, { expected })
  const fired: Array<string> = []
  const judged = (hooks: unknown) => {
    const permissions = "permission" in given ? permissionsOf(fieldsOf(given["permission"]), undefined) : undefined
    const noting = Object.entries(fieldsOf(hooks)).map(([event, word]) => [
      event,
      [hookOf(word, () => fired.push(event))]
    ])
    return judge(call, permissions, Object.fromEntries(noting) as Hooks)
  }
  const { verdict, reason } = await judged(given["hooks"])
  const each = await Promise.all(listOf(given["hooksEach"]).map(judged))
  const verdicts = each.map((one) => ({ [one.verdict]: one.reason?.replace(": ", " with the message ") }))
  const notFired = listOf(expected["notFired"]).filter((event) => !fired.includes(textOf(event)))
  return compared({ verdict, reason, verdicts, hooksFired: fired, notFired }, { expected })
}

/** The data about a call that a question gets, in the cases' words. */
const questionAbout = async (call: ToolCall.ToolCall): Promise<ReadonlyArray<string>> => {
  const reported: Array<string> = []
  const ask: Permissions.Ask = ({ toolCall }) => {
    if (toolCall.name === call.name) reported.push("tool name")
    if (isFields(toolCall.arguments)) reported.push("arguments")
    reported.push(toolCall.id === call.id ? "context and tool call id" : "context whose tool call id is unset")
    return "allow"
  }
  await judge(call, { ask })
  return reported
}

/** The operations that judge a call at a gate, by the case's name. */
export const gateOperations: Operations = { gate, "golden-gate.preToolGate": preToolGate }
