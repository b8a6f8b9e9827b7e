/** The state and the calls of a batch. A call of a recorded run is read as that of a written case. */
import { Dispatch } from "@troupe/chat/dispatch"
import type { Permissions } from "@troupe/chat/tools"
import { Process } from "@troupe/otp"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import { ScriptedException } from "../../chat/values/plain.ts"

/** The state of a case's batch. */
export interface BatchState extends Dispatch.DispatchState {
  readonly phase: Permissions.Mode
  readonly budget: { readonly tokens: number } | null
  readonly consecutiveMistakes: number
  readonly toolCallsMade: number
  readonly messages: number
}

/** The initial state of a batch; `given` uses the cases' names for its fields. */
export const stateOf = (given: Fields, tools: ReadonlyArray<Dispatch.DispatchTool>): BatchState => {
  const { phase = "default", mistakes, tokens, toolCallsMade } = given
  const limits = Object.entries(given).filter(([name]) => name === "maxConcurrency" || name === "toolTimeoutMs")
  return {
    tools,
    phase: phase as Permissions.Mode,
    messages: 0,
    budget: { tokens: Number(tokens ?? 0) },
    consecutiveMistakes: Number(mistakes ?? 0),
    toolCallsMade: Number(toolCallsMade ?? 0),
    ...Object.fromEntries(limits)
  }
}

/** A state's fields under the cases' names. */
export const fieldsOfState = (state: BatchState | undefined): Fields | undefined => {
  if (state === undefined) return undefined
  const { phase, consecutiveMistakes: mistakes, budget, toolCallsMade, messages } = state
  return { phase, mistakes, tokens: budget?.tokens ?? null, budget, toolCallsMade, messages }
}

/** Tools from a case's declarations. */
export const toolsOf = (tools: unknown): ReadonlyArray<Dispatch.DispatchTool> =>
  listOf(tools)
    .map(fieldsOf)
    .map(({ name, parallelSafe }) => ({ name: textOf(name), effect: parallelSafe === true ? "read" : "write" }))

/** One call, and the script of its runner. */
export type ScriptedCall = ReturnType<typeof callOf>

/** A call of a written case. Its `result` reads the shared cell; without one the call is a plain success. */
export const callOf = (value: unknown) => {
  const { id, key = id, tool, delayMs = 0, edit, crash, reads, saw, writes, ...rest } = fieldsOf(value)
  const { halt, error, rawResult, ...unknown } = rest
  if (Object.keys(unknown).length > 0) throw new Error(`a call has ${Object.keys(unknown).join(", ")}`)
  const callId = textOf(id)
  const result = (cell: unknown): unknown => {
    if (halt !== undefined) return Dispatch.halt(halt)
    if (rawResult !== undefined) return rawResult
    if (error !== undefined) return { callId, content: error, isError: true }
    const success = reads === undefined ? `ok:${textOf(key)}` : cell
    return { callId, content: saw === undefined ? success : `saw:${textOf(cell)}`, isError: false }
  }
  return {
    id: callId,
    key: textOf(key),
    tool: textOf(tool),
    delayMs: Number(delayMs),
    result,
    edit: (state: BatchState): BatchState =>
      [edit]
        .flat()
        .flatMap((one) => Object.entries(fieldsOf(one)))
        .reduce(edited, state),
    writes: isFields(writes) ? Object.values(writes)[0] : undefined,
    crash: () => (crash === undefined ? undefined : crashing(textOf(crash)))
  }
}

const edited = (state: BatchState, [name, change]: [string, unknown]): BatchState => {
  const text = textOf(change)
  const from = (value = 0): number => (/^[+-]/.test(text) ? value + Number(text) : Number(text.replace("=", "")))
  switch (name) {
    case "partial":
      return { consecutiveMistakes: 99 } as BatchState
    case "phase":
      return { ...state, phase: text as BatchState["phase"] }
    case "tokens":
    case "budget":
      return { ...state, budget: change === null ? null : { tokens: from(state.budget?.tokens) } }
    case "mistakes":
      return { ...state, consecutiveMistakes: from(state.consecutiveMistakes) }
    case "toolCallsMade":
    case "messages":
      return { ...state, [name]: from(state[name]) }
    default:
      throw new Error(`a call edits ${name}`)
  }
}

const crashing = (kind: string): never => {
  if (kind.startsWith("exit")) return Process.exitSelf(kind === "exit_normal" ? "normal" : "gone")
  throw kind === "throw" ? "thrown" : new ScriptedException("RuntimeError", kind)
}

const edits: Readonly<Record<string, (change: unknown) => Fields>> = {
  bump: (change) => ({ mistakes: `+${textOf(change)}` }),
  add_tokens: (change) => ({ tokens: `+${textOf(change)}` }),
  tool_calls_made: (change) => ({ toolCallsMade: change })
}

/** A call of a recorded run, as that of a written case. */
export const recordedCall = (value: unknown): ScriptedCall => {
  const { key, id, tool, script } = fieldsOf(value)
  const { stateEdits, result, setShared, writeShared = setShared, ...same } = fieldsOf(script)
  const {
    raw,
    readShared: saw,
    ...rest
  } = isFields(result) || result === undefined ? fieldsOf(result) : { [textOf(result)]: true }
  const all = listOf(stateEdits).flatMap((one) => Object.entries(fieldsOf(one)))
  const edit = all.map(([name, change]) => edits[name]?.(change) ?? { [name]: change })
  const returned = raw === undefined ? {} : { rawResult: rawValues[textOf(raw)] }
  const writes = writeShared === undefined ? undefined : { cell: writeShared }
  return callOf({
    key,
    id,
    tool,
    edit,
    writes,
    saw,
    ...same,
    ...rest,
    ...returned
  })
}

/** Values that are no result of a call, and the recordings' form of those that are kept. */
const rawValues: Fields = { nil: null, null: null, false: false, halt: "halt", "{:halt, 1, 2}": ["halt", 1, 2] }

/** A result in the recordings' form. */
export const printed = (result: unknown): unknown => {
  if (isFields(result)) return result
  return { raw: Array.isArray(result) ? `{:${result.join(", ")}}` : `:${textOf(result)}` }
}
