/** Reads the calls of batches, from written and from recorded cases. */
import { Dispatch } from "@troupe/chat/dispatch"
import { Process } from "@troupe/otp"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { ScriptedException } from "../../chat/values/plain.ts"
import type { BatchState, CallResult, ScriptedCall } from "./batch.ts"

type Edit = (state: BatchState) => BatchState

const numberOf = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise)

/** The initial state of a batch; `given` uses the cases' names for its fields. */
export const stateOf = (given: Fields, tools: ReadonlyArray<Dispatch.DispatchTool>): BatchState => ({
  tools,
  phase: textOf(given["phase"] ?? "default") as BatchState["phase"],
  consecutiveMistakes: numberOf(given["mistakes"], 0),
  budget: { tokens: numberOf(given["tokens"], 0) },
  toolCallsMade: numberOf(given["toolCallsMade"], 0),
  messages: 0,
  ...("maxConcurrency" in given ? { maxConcurrency: given["maxConcurrency"] as number | null } : {}),
  ...("toolTimeoutMs" in given ? { toolTimeoutMs: given["toolTimeoutMs"] as number } : {})
})

/** A state's fields under the cases' names. */
export const fieldsOfState = (state: BatchState | undefined): Fields | undefined =>
  state === undefined
    ? undefined
    : {
        phase: state.phase,
        mistakes: state.consecutiveMistakes,
        tokens: state.budget?.tokens ?? null,
        budget: state.budget,
        toolCallsMade: state.toolCallsMade,
        messages: state.messages
      }

/** Tools from a case's declarations. */
export const toolsOf = (tools: unknown): ReadonlyArray<Dispatch.DispatchTool> =>
  listOf(tools)
    .map(fieldsOf)
    .map(({ name, parallelSafe }) => ({ name: textOf(name), effect: parallelSafe === true ? "read" : "write" }))

const failed = (id: string, content: unknown): CallResult => ({ callId: id, content, isError: true })

/** A call of a written case. */
export const writtenCall = (value: unknown): ScriptedCall => {
  const { id, key, tool, delayMs, edit, halt, error, rawResult, crash, reads, writes, ...unknown } = fieldsOf(value)
  if (Object.keys(unknown).length > 0) throw new Error(`a call has ${Object.keys(unknown).join(", ")}`)
  const callId = textOf(id)
  const result = (): ScriptedCall["result"] => {
    if (halt !== undefined) return () => Dispatch.halt(halt)
    if (error !== undefined) return () => failed(callId, error)
    if (rawResult !== undefined) return () => rawResult
    return reads === undefined ? undefined : (cell) => ({ callId, content: cell, isError: false })
  }
  return {
    key: textOf(key ?? id),
    id: callId,
    tool: textOf(tool),
    delayMs: numberOf(delayMs, 0),
    edits: Object.entries(fieldsOf(edit)).map(([field, change]) => editOf(field, change)),
    result: result(),
    writes: isFields(writes) ? Object.values(writes)[0] : undefined,
    crash: crash === undefined ? undefined : crashOf(textOf(crash))
  }
}

const fields: Readonly<Record<string, "phase" | "consecutiveMistakes" | "toolCallsMade" | "messages">> = {
  phase: "phase",
  mistakes: "consecutiveMistakes",
  toolCallsMade: "toolCallsMade",
  messages: "messages"
}

const changed = (value: number, change: unknown): number => {
  const said = textOf(change)
  return /^[+-]/.test(said) ? value + Number(said) : Number(said.replace("=", ""))
}

const editOf =
  (name: string, change: unknown): Edit =>
  (state) => {
    if (change === null && (name === "tokens" || name === "budget")) return { ...state, budget: null }
    if (name === "tokens") return { ...state, budget: { tokens: changed(state.budget?.tokens ?? 0, change) } }
    const field = fields[name]
    if (field === undefined) throw new Error(`a call edits ${name}`)
    if (field === "phase") return { ...state, phase: textOf(change) as BatchState["phase"] }
    return { ...state, [field]: changed(state[field], change) }
  }

const crashOf = (kind: string): (() => never) => {
  if (kind.startsWith("exit")) return () => Process.exitSelf(kind === "exit_normal" ? "normal" : "gone")
  const thrown: unknown = kind === "throw" ? "thrown" : new ScriptedException("RuntimeError", kind)
  return () => {
    throw thrown
  }
}

/** A call of a recorded run. */
export const recordedCall = (value: unknown): ScriptedCall => {
  const { key, id, tool, script } = fieldsOf(value)
  const { delayMs, stateEdits, result, crash, setShared, writeShared, ...unknown } = fieldsOf(script)
  if (Object.keys(unknown).length > 0) throw new Error(`a script has ${Object.keys(unknown).join(", ")}`)
  return {
    key: textOf(key),
    id: textOf(id),
    tool: textOf(tool),
    delayMs: numberOf(delayMs, 0),
    edits: listOf(stateEdits).flatMap((edit) => Object.entries(fieldsOf(edit)).map(recordedEdit)),
    result: result === undefined ? undefined : recordedResult(textOf(id), result),
    writes: setShared ?? writeShared,
    crash: crash === undefined ? undefined : crashOf(textOf(crash))
  }
}

const recordedEdit = ([name, change]: [string, unknown]): Edit => {
  switch (name) {
    case "bump":
      return editOf("mistakes", `+${textOf(change)}`)
    case "add_tokens":
      return editOf("tokens", `+${textOf(change)}`)
    case "tool_calls_made":
      return editOf("toolCallsMade", change)
    case "partial":
      return () => ({ consecutiveMistakes: 99 }) as BatchState
    default:
      return editOf(name, change)
  }
}

const recordedResult = (id: string, result: unknown): ScriptedCall["result"] => {
  const { halt, error, raw, readShared, ...unknown } = isFields(result) ? result : { [textOf(result)]: true }
  if (Object.keys(unknown).length > 0) throw new Error(`a result has ${Object.keys(unknown).join(", ")}`)
  if (readShared !== undefined) return (cell) => ({ callId: id, content: `saw:${textOf(cell)}`, isError: false })
  if (halt !== undefined) return () => Dispatch.halt(halt)
  if (error !== undefined) return () => failed(id, error)
  const value = rawValues[textOf(raw)]
  return () => value
}

/** Values that are no result of a call, and the recordings' form of those that are kept. */
const rawValues: Readonly<Record<string, unknown>> = {
  nil: null,
  null: null,
  false: false,
  halt: "halt",
  "{:halt, 1, 2}": ["halt", 1, 2]
}

/** A result in the recordings' form. */
export const printed = (result: unknown): unknown => {
  if (isFields(result)) return result
  return { raw: Array.isArray(result) ? `{:${result.join(", ")}}` : `:${textOf(result)}` }
}
