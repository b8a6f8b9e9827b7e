/**
 * Runs the recorded calls of a gate: permissions, then hooks, before one call of `bash`.
 *
 * @module
 */
import { unexaminedCase } from "../../runner/suite.ts"
import type { ToolCall } from "@troupe/chat/messages"
import type { HookAnswer, Hooks, Permissions } from "@troupe/chat/tools"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { differences, facetDifferences } from "../../runner/matching.ts"
import { hookOf, plain, printed } from "./hookOperations.ts"
import type { Operation, Operations } from "../operation.ts"
import { type Judged, judge, permissionsOf } from "./permissionSetup.ts"

const bash: ToolCall.ToolCall = { id: "c1", name: "bash", arguments: { command: "ls" } }

/** The gate of the call. */
interface Setup {
  readonly permissions?: Permissions.Permissions
  /** The results of the hooks before the call, in order; without any, a spy returns nothing. */
  readonly before?: ReadonlyArray<() => unknown>
  /** The hooks before the call, given directly. */
  readonly raw?: (spy: (payload: unknown) => unknown) => unknown
  /** The results of the hooks of a refusal. */
  readonly refused?: unknown
}

const throwing = (message: string) => (): never => {
  throw new Error(message)
}

const asking = (answer: unknown): Setup => ({ permissions: { ask: () => answer as Permissions.Answer } })

/** The gate that the title of a recorded call describes. */
const setups: Readonly<Record<string, Setup>> = {
  "no options": { before: [] },
  denylist: { permissions: { deny: ["bash"] } },
  "allowlist miss": { permissions: { allow: ["read"] } },
  "PreToolUse deny with raw reason": { before: [() => ({ type: "deny", reason: "no writes" })] },
  "PreToolUse deny with a denial": {
    before: [() => ({ type: "deny", reason: { code: "sandbox_violation", reason: "outside", metadata: {} } })]
  },
  "PreToolUse halt": { before: [() => ({ type: "halt", reason: "h" })] },
  "PreToolUse raises": { before: [throwing("boom")] },
  "PreToolUse garbage return": { before: [() => ({ what: "ever" })] },
  "PreToolUse augment ignored": { before: [() => ({ type: "augment", text: "x" })] },
  "PreToolUse inject ignored": { before: [() => ({ type: "inject", messages: [] })] },
  "first deny wins, later hook not run": {
    before: [() => ({ type: "deny", reason: "a" }), () => ({ type: "deny", reason: "b" })]
  },
  "first halt wins, later hook not run": {
    before: [() => ({ type: "halt", reason: "b" }), () => ({ type: "deny", reason: "a" })]
  },
  "bare function instead of a group": { raw: (spy) => [spy] },
  "group without hooks list": { raw: () => [{ match: "bash" }] },
  "matcher is case-sensitive": { raw: (spy) => [{ match: "Bash", hooks: [spy] }] },
  "matcher is unanchored": { raw: (spy) => [{ match: "ash", hooks: [spy] }] },
  "invalid matcher regex": { raw: (spy) => [{ match: "(", hooks: [spy] }] },
  "bypass phase still runs PreToolUse": {
    permissions: { mode: "bypass" },
    before: [() => ({ type: "deny", reason: "a" })]
  },
  "callback halt atom": asking("halt"),
  "callback halt tuple": asking({ type: "halt", reason: "user" }),
  "callback deny": asking("deny"),
  "callback deny reason": asking({ type: "deny", reason: "nah" }),
  "callback garbage": asking(42),
  "PermissionDenied hook halting is ignored": {
    permissions: { deny: ["bash"] },
    refused: { type: "halt", reason: "x" }
  }
}

const preToolGate: Operation = async ({ recorded, expected }) => {
  const title = textOf(recorded["title"])
  const setup = setups[title]
  if (setup === undefined) return unexaminedCase(`a recorded run that only its title describes: ${title}`)
  const log: Array<unknown> = []
  const required = { result: withoutSentence(printed(expected["result"])), hookLog: expected["hookLog"] }
  const actual = { result: await resultOf(setup, log), hookLog: log }
  return differences(actual, required, { outcome: {}, given: {} })
}

const resultOf = async (setup: Setup, log: Array<unknown>): Promise<unknown> => {
  try {
    return said(await judge(bash, setup.permissions, hooksOf(setup, log)))
  } catch (thrown) {
    return { raised: thrown instanceof Error ? thrown.name : thrown }
  }
}

/** Hooks that log their runs and payloads. */
const hooksOf = ({ before = [() => undefined], raw, refused }: Setup, log: Array<unknown>): Hooks => {
  const noting = (hook: string, answer: () => unknown) => (payload: unknown) => {
    log.push({ hook, id: "c1", tool: fieldsOf(payload)["toolName"], keys: keysOf(hook, fieldsOf(payload)) })
    return answer() as HookAnswer
  }
  const spies = before.map((answer) => noting("PreToolUse", answer))
  const given = raw?.(noting("PreToolUse", () => undefined)) ?? spies
  return {
    PreToolUse: given as NonNullable<Hooks["PreToolUse"]>,
    PermissionDenied: [noting("PermissionDenied", () => refused)],
    ToolDenied: [noting("ToolDenied", () => refused)]
  }
}

/** The keys of a payload in the original's names; before a call they include its arguments. */
const keysOf = (hook: string, payload: Fields): ReadonlyArray<string> =>
  hook === "PreToolUse"
    ? [...Object.keys(fieldsOf(payload["arguments"])), "tool_name"]
    : Object.keys(payload)
        .map((key) => originals[key] ?? key)
        .toSorted()

const originals: Readonly<Record<string, string>> = { toolName: "tool_name", toolCall: "tool_use_id" }

/** The verdict on the call, in the recordings' form. */
const said = ({ verdict, code, metadata, reason }: Judged): unknown => {
  if (verdict !== "deny") return verdict === "halt" ? { halt: reason } : verdict
  return { deny: code === undefined ? reason : { denial: { code, metadata: withRaw(metadata) } } }
}

const withRaw = (metadata: Fields = {}): Fields =>
  "raw" in metadata ? { ...metadata, raw: textOf(metadata["raw"]) } : metadata

/** A refusal without its message, which differs between the libraries. */
const withoutSentence = (result: unknown): unknown => {
  const { deny, raised } = fieldsOf(result)
  if (raised !== undefined) return { raised: "ValidationError" }
  if (!isFields(deny)) return result
  const { reason: _, metadata, ...denial } = fieldsOf(deny["denial"])
  const { raw, ...rest } = fieldsOf(metadata)
  return { deny: { denial: { ...denial, metadata: raw === undefined ? rest : { ...rest, raw: plain(textOf(raw)) } } } }
}

/** The hooks of a case, which log their runs. */
const notingHooks = (given: unknown, fired: Array<string>): Hooks =>
  Object.fromEntries(
    Object.entries(fieldsOf(given)).map(([event, word]) => [event, [hookOf(word, () => void fired.push(event))]])
  )

const gate: Operation = async ({ given, when, expected }) => {
  const { tool, id, name } = fieldsOf(when["gate"])
  const call = { id: textOf(id ?? "c1"), name: textOf(tool ?? name), arguments: {} }
  if ("questionReceives" in expected) {
    return facetDifferences({ questionReceives: await questionAbout(call) }, expected)
  }
  const fired: Array<string> = []
  const judged = (hooks: unknown) => {
    const permissions = "permission" in given ? permissionsOf(fieldsOf(given["permission"]), undefined) : undefined
    return judge(call, permissions, notingHooks(hooks, fired))
  }
  const { verdict, reason } = await judged(given["hooks"])
  const each = await Promise.all(listOf(given["hooksEach"]).map(judged))
  const verdicts = each.map((one) => ({ [one.verdict]: one.reason?.replace(": ", " with the message ") }))
  const actual = { verdict, reason, verdicts, hooksFired: fired, notFired: notFired(expected, fired) }
  return facetDifferences(actual, expected)
}

/** The hooks that must not run and did not. */
const notFired = ({ notFired: names }: Fields, fired: ReadonlyArray<string>): ReadonlyArray<unknown> =>
  listOf(names).filter((name) => !fired.includes(textOf(name)))

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
