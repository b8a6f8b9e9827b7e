/**
 * Checks decisions: a decision that cannot work is refused before it takes effect, so that the call still waits.
 *
 * DEC3. A call is not allowed to run when neither the agent, or the Troupe, nor the turn of the decision has its tool. A decision to
 *       allow a call of a sub-agent, or to give it a result, needs the tool of the sub-agent in each chat above too.
 * DEC4. A question of a sub-agent, and a call whose result a person gives, is not allowed to run: only `result` answers it, and a
 *       question with a text that is not blank, and a call with a result that is not too long.
 * DEC6. An answer to a question with a `schema` fits it. The JSON text of an object is that object.
 * DEC5. A decision about a call that the running turn neither has nor waits with is refused at once, and waits nowhere. The reason of a
 *       decision has at most 10,000 characters.
 */
import { type BackgroundTask, Decision, isChildId, type OpenStep, type PendingApproval } from "../record/index.ts"
import {
  type Finding,
  findingsOf,
  isRecord,
  quoted,
  SessionError,
  unknownNames,
  ValidationError
} from "../errors/index.ts"
import { ignoreRejection, isPromiseLike } from "../async/index.ts"
import { haltProblem } from "../gate/index.ts"
import { type Json, write, describe } from "../values/index.ts"
import { presentTools } from "../options/index.ts"
import { askAt, pendingApprovalsOf } from "./openCalls.ts"
import { type About, type Decided, noWait, waitToCome, taskApprovals, taskAskAt } from "./childAsks.ts"
import { type Engine, isProviderApproval, jsonSchema, type ParsedArguments, submittedMessage } from "../tool/index.ts"
import * as Thread from "../model/Thread.ts"
import { deepestLevels, wellFormed } from "../json/index.ts"

/** The state of the chat that a decision is checked against. `given` are the tools of the turn that the decision begins. */
interface DecisionState {
  readonly engine: Pick<Engine, "tools">
  readonly thread: Thread.Thread
  readonly open?: OpenStep | undefined
  /** The background tasks of the record, whose sub-agents can wait. */
  readonly waiting?: ReadonlyArray<BackgroundTask> | undefined
  readonly given?: ReadonlyArray<{ readonly name: string }> | undefined
  /** How large the result of a call may be. */
  readonly limits?: Parameters<typeof submittedMessage>[2]
  /** The engine of a sub-agent's calls. */
  readonly engineOf?: ((agent: string) => Pick<Engine, "tools">) | undefined
}

/** The members of each decision. */
const members = {
  allow: ["type", "arguments"],
  deny: ["type", "reason"],
  halt: ["type", "reason"],
  result: ["type", "value"]
} satisfies Readonly<Record<Decision["type"], ReadonlyArray<string>>>

/** The checked decision, for the wait that has its id in this state (OPEN5). */
export const boundDecision = (given: unknown, toolCallId: string, context: DecisionState | undefined): Decided => {
  const decision = checkedDecision(given, toolCallId, context)
  const about = context && aboutOf(toolCallId, context)
  return { toolCallId, decision, ...(about !== undefined && { about }) }
}

/** The wait that has this id now, or the one that a call may come to; an address that nothing has is that of no wait. */
const aboutOf = (toolCallId: string, context: DecisionState): About => {
  const below = belowOf(toolCallId, context)?.ask
  const waits = below ?? waitOf(toolCallId, context)
  if (waits === undefined) return isChildId(toolCallId) ? noWait : waitToCome
  const { kind, askedAt } = waits
  const { chat, at } = below ?? { chat: "", at: context.open?.at ?? 0 }
  return { chat, at, kind, askedAt }
}

const waitOf = (toolCallId: string, context: DecisionState | undefined): PendingApproval | undefined =>
  [...pendingApprovalsOf(context?.thread ?? Thread.empty, context?.open), ...taskApprovals(context?.waiting)].find(
    ({ toolCall }) => toolCall.id === toolCallId
  )

/** The wait of a sub-agent with this address. */
const belowOf = (toolCallId: string, context: DecisionState | undefined): ReturnType<typeof taskAskAt> =>
  (context?.open === undefined ? undefined : askAt({ thread: context.thread, open: context.open }, toolCallId)) ??
  taskAskAt(toolCallId, context?.waiting)

/**
 * Returns a decision that can be stored and carried out; throws a `ValidationError` for anything else, and a `SessionError`
 * (`unknown_tool`) when a call is to run whose tool there is not.
 */
export const checkedDecision = (given: unknown, toolCallId: string, context: DecisionState | undefined): Decision => {
  const waits = waitOf(toolCallId, context)
  const decision = formOf(readable(given), waits)
  const found = [...problemsOf(decision), ...(context === undefined ? [] : misfits(decision, waits, context))]
  if (found.length > 0) throw invalid(found)
  if (context !== undefined && waits !== undefined) checkTools(decision, waits, context)
  return decision
}

/** The tools of the agent that made a call. */
const toolsOf = ({ agent }: Pick<PendingApproval, "agent">, { engine, engineOf }: DecisionState): Engine["tools"] =>
  presentTools((agent === undefined ? engine : (engineOf?.(agent) ?? engine)).tools)

/** DEC3 */
const checkTools = ({ type }: Decision, waits: PendingApproval, state: DecisionState): void => {
  if ((type !== "allow" && type !== "result") || isProviderApproval(waits.toolCall)) return
  const { id, name } = waits.toolCall
  const below = isChildId(id) ? belowOf(id, state) : undefined
  if (below !== undefined) {
    for (const { agent, tool } of [{ agent: below.agent, tool: below.tool }, ...(below.ask.above ?? [])]) {
      checkTool(tool, id, agent, state, "deny or halt")
    }
  }
  if (type === "allow") checkTool(name, id, waits.agent, state, "deny, halt or result")
}

const checkTool = (
  toolName: string,
  toolCallId: string,
  agent: string | undefined,
  state: DecisionState,
  others: string
): void => {
  const { open, given = [] } = state
  const names = [...toolsOf({ agent }, state), ...given].map(({ name }) => name)
  if (names.includes(toolName)) return
  const of = agent ?? open?.agent
  const owner = of === undefined ? "Troupe" : `agent ${of}`
  const message = `The ${owner} has no tool ${quoted(toolName)}, so the call still waits; start with this tool, or decide ${others}`
  throw new SessionError("unknown_tool", message, { metadata: { toolName, toolCallId } })
}

const invalid = (found: ReadonlyArray<Finding>): ValidationError =>
  new ValidationError(
    "invalid_options",
    found.map(({ field, reason }) => ({ field: ["decision", ...field], reason }))
  )

/** Reads the value once: accessors may throw, or return another value the next time. */
const readable = (given: unknown): Decision => {
  try {
    const { success, data, error } = Decision.safeParse(given)
    if (success) return wellFormed(data)
    const found = misdecided(given)
    throw invalid(found.length > 0 ? found : findingsOf(error, []))
  } catch (thrown) {
    if (thrown instanceof ValidationError) throw thrown
    throw invalid([{ field: [], reason: `unreadable: ${describe(thrown)}` }])
  }
}

/** The findings about a value that has none of the types of a decision, or has unknown members. */
const misdecided = (given: unknown): ReadonlyArray<Finding> => {
  const types = Object.keys(members) as ReadonlyArray<keyof typeof members>
  if (!isRecord(given)) {
    const word = types.find((type) => type === given) ?? "allow"
    return [{ field: [], reason: `must_be_an_object with the type ${types.join(", ")}; write { type: "${word}" }` }]
  }
  const { type, approved, arguments: replaced, reason } = given
  const known = types.find((one) => one === type)
  if (known !== undefined) {
    const found = unknownNames(given, members[known])
    if (found.length > 0) return found
    if (replaced !== undefined && !isRecord(replaced))
      return [{ field: ["arguments"], reason: "must_be_an_object, the arguments of the call" }]
    return reason === undefined || typeof reason === "string" ? [] : [{ field: ["reason"], reason: "must_be_a_text" }]
  }
  const meant = approved === false ? "deny" : "allow"
  const advice = approved === undefined ? "" : `; instead of { approved } write { type: "${meant}" }`
  return [{ field: ["type"], reason: `must_be_one_of ${types.join(", ")}${advice}` }]
}

const problemsOf = (decision: Decision): ReadonlyArray<Finding> => {
  switch (decision.type) {
    case "allow":
      return decision.arguments === undefined ? [] : below("arguments", wordless(decision.arguments))
    case "result":
      return decision.value === undefined
        ? [{ field: ["value"], reason: "missing; null says that there is none" }]
        : below("value", wordless(decision.value))
    case "halt": {
      const problem = haltProblem(decision.reason) ?? tooLong(decision.reason)
      return problem === undefined ? [] : [{ field: ["reason"], reason: problem }]
    }
    case "deny": {
      const problem = tooLong(decision.reason)
      return problem === undefined ? [] : [{ field: ["reason"], reason: problem }]
    }
  }
}

const mostReason = 10_000

const tooLong = (reason: string | undefined): string | undefined =>
  reason === undefined || reason.length <= mostReason ? undefined : `at_most ${mostReason} characters`

const below = (step: string, found: ReadonlyArray<Finding>): ReadonlyArray<Finding> =>
  found.map(({ field, reason }) => ({ field: [step, ...shortened(field)], reason }))

/** A path that is short enough to read. */
const shortened = (field: ReadonlyArray<string | number>): ReadonlyArray<string | number> =>
  field.length <= 6 ? field : [...field.slice(0, 3), "…", ...field.slice(-2)]

/** The parts of a value that have no JSON form, which the model could not read. */
const wordless = (value: unknown): ReadonlyArray<Finding> => {
  const { json, found } = write(value, false, deepestLevels)
  return found.length > 0 ? found : tagged(json, [])
}

const tagged = (json: Json, path: ReadonlyArray<string | number>): ReadonlyArray<Finding> => {
  if (typeof json !== "object" || json === null) return []
  if ("$object" in json) return inside(json.$object ?? null, path)
  if ("$bigint" in json) return [{ field: path, reason: "bigint" }]
  if ("$number" in json && json.$number !== "-0") return [{ field: path, reason: "not_finite" }]
  return inside(json, path)
}

const inside = (json: Json, path: ReadonlyArray<string | number>): ReadonlyArray<Finding> =>
  Object.entries(json ?? {}).flatMap(([step, value]) => tagged(value, [...path, step]))

/** Why the value cannot be the result of a call of a sub-agent that a person answers. */
const unsubmittable = (value: unknown, toolCallId: string, limits: DecisionState["limits"]): ReadonlyArray<Finding> => {
  try {
    submittedMessage(toolCallId, value, limits)
    return []
  } catch (thrown) {
    return [{ field: ["value"], reason: describe(thrown) }]
  }
}

/** The decision with a form in place of its JSON text: some protocols have only texts for answers. */
const formOf = (decision: Decision, waits: PendingApproval | undefined): Decision => {
  const schema = waits?.kind === "question" ? waits.options?.["schema"] : undefined
  if (decision.type !== "result" || typeof decision.value !== "string") return decision
  if (!isRecord(schema) || schema["type"] !== "object") return decision
  try {
    return { type: "result", value: JSON.parse(decision.value) }
  } catch {
    return decision
  }
}

/** Why an answer does not fit the `schema` of its question, if the schema can be checked synchronously (DEC6). */
const misfilled = (value: unknown, options: PendingApproval["options"]): ReadonlyArray<Finding> => {
  const schema = options?.["schema"]
  if (!isRecord(schema)) return []
  const checked = jsonSchema(schema)["~standard"].validate(value)
  if (isPromiseLike(checked)) {
    ignoreRejection(checked)
    return []
  }
  return (checked.issues ?? []).map(({ path, message }) => {
    const field = (path ?? []).map((step) => (typeof step === "object" ? String(step.key) : String(step)))
    return { field: ["value", ...field], reason: message }
  })
}

/** Why a decision cannot be about a call that its provider runs (PAPPROVAL2). */
const unapprovable = ({ type, ...decision }: Decision): ReadonlyArray<Finding> => {
  const advice = 'the provider runs this call as it is; write { type: "allow" }, or deny, or halt'
  if (type === "result") return [{ field: ["type"], reason: `must_not_be_result: ${advice}` }]
  const isEdited = "arguments" in decision && decision.arguments !== undefined
  return isEdited ? [{ field: ["arguments"], reason: `cannot_be_replaced: ${advice}` }] : []
}

/** The issues of the replaced arguments, if the schema can check them synchronously. */
const misfits = (
  decision: Decision,
  waits: PendingApproval | undefined,
  state: DecisionState
): ReadonlyArray<Finding> => {
  if (waits !== undefined && isProviderApproval(waits.toolCall)) return unapprovable(decision)
  if (decision.type === "result" && waits?.kind === "question") {
    const isBlank = typeof decision.value === "string" && decision.value.trim() === ""
    if (isBlank) return [{ field: ["value"], reason: "must_not_be_blank; deny says that nobody answers" }]
    return misfilled(decision.value, waits.options)
  }
  if (decision.type === "result" && waits?.kind === "tool_result") {
    return unsubmittable(decision.value, waits.toolCall.id, state.limits)
  }
  if (decision.type !== "allow" || waits === undefined) return []
  if (waits.kind === "question" || waits.kind === "tool_result") {
    return [
      { field: ["type"], reason: `must_be_result for a ${waits.kind}: { type: "result", value }, or deny, or halt` }
    ]
  }
  if (decision.arguments === undefined) return []
  const tool = toolsOf(waits, state).find(({ name }) => name === waits.toolCall.name)
  if (tool === undefined) return []
  let parsed: ParsedArguments | PromiseLike<ParsedArguments>
  try {
    parsed = tool.parse(structuredClone(decision.arguments))
  } catch (thrown) {
    return [{ field: ["arguments"], reason: describe(thrown) }]
  }
  if (isPromiseLike(parsed)) {
    ignoreRejection(parsed)
    return []
  }
  return parsed.valid
    ? []
    : parsed.issues.map(({ path, message }) => ({
        field: path === "" ? ["arguments"] : ["arguments", path],
        reason: message
      }))
}
