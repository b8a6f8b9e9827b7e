/**
 * The facets of a whole turn.
 *
 * @module
 */
import { lastText } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import { type Fields, fieldsOf, listOf, textOf } from "../../runner/fields.ts"
import type { Difference } from "../../runner/matching.ts"
import { compared } from "../dispatchCases.ts"
import { finishOf, type LoopSeen } from "./loopRun.ts"

const stepsOf = ({ result }: LoopSeen) => result?.steps ?? []

/** A turn whose tools ended the run does not count as an iteration. */
export const countedSteps = (seen: LoopSeen) =>
  stepsOf(seen).filter(({ response, halt }) => response.finishReason === "tool_calls" && halt === undefined)

export const resultsOf = (seen: LoopSeen) => stepsOf(seen).flatMap(({ toolResults }) => toolResults)

export const messagesOf = ({ result }: LoopSeen): ReadonlyArray<Message.Message> => result?.thread.messages ?? []

export const isBad = ({ outcome }: Extract<Message.Message, { role: "tool" }>): boolean => outcome !== "completed"

const idsOf = (seen: LoopSeen, bad: boolean): ReadonlyArray<string> =>
  resultsOf(seen)
    .filter((message) => isBad(message) === bad)
    .map(({ toolCallId }) => toolCallId)

/** The facets of a run. */
export const facets = (seen: LoopSeen): Fields => {
  const { result, ran, providerCalls, fired, events } = seen
  const counted = countedSteps(seen)
  const finish = finishOf(seen)
  const results = resultsOf(seen)
  const { toolName, denial } = fieldsOf(seen.payloads["ToolDenied"])
  return {
    finish,
    halted: finish === "error_halted" ? result?.haltedReason : undefined,
    deliverable: result?.metadata["haltResult"],
    category: finish.startsWith("error_") ? (categories[finish] ?? "capacity") : "success",
    outcome: outcomeOf(seen),
    text: result === undefined ? undefined : lastText(result),
    iterations: counted.length,
    toolCallsMade: counted.flatMap(({ toolResults }) => toolResults).length,
    providerCalls,
    ran,
    neverRan: stepsOf(seen)
      .flatMap(({ response }) => response.toolCalls.map(({ id }) => id))
      .filter((id) => !ran.includes(id)),
    toolRan: ran.length > 0,
    events,
    content: events.filter((event) => event.startsWith("content:")).map((event) => event.slice("content:".length)),
    toolResultIds: results.map(({ toolCallId }) => toolCallId),
    okIds: idsOf(seen, false),
    errorIds: idsOf(seen, true),
    isError: results.some(isBad),
    countsAsMistake: results.some(isBad),
    texts: results.map(Message.text),
    textOf: Object.fromEntries(results.map((message) => [message.toolCallId, Message.text(message)])),
    resultTextIsReason: results.some(
      (message) => Message.text(message) === fieldsOf(seen.payloads["PermissionDenied"])["reason"]
    ),
    cost: stepsOf(seen).reduce((sum, { response }) => sum + (response.usage.totalCost ?? 0), 0),
    snapshot: result?.metadata["snapshot"],
    fired: [...new Set(fired)],
    postHookRan: fired.filter((event) => event === "PostToolUse").length,
    toolDenied: { tool_name: toolName, denialCode: fieldsOf(denial)["code"] },
    maxOpenQuestions: seen.maxOpenQuestions
  }
}

const categories: Fields = {
  error_during_execution: "retryable",
  error_schema_validation: "retryable",
  error_halted: "fatal",
  error_provider_auth: "fatal"
}

export const outcomeOf = (seen: LoopSeen): string => {
  const { result, thrown } = seen
  if (result === undefined) return thrown instanceof Error ? "exception in caller" : "no result"
  const bad = resultsOf(seen).some(isBad)
  return bad ? "error result 'tool crashed: …'" : "the run goes on"
}

type Translation = (required: unknown, seen: LoopSeen) => readonly [facet: string, required: unknown]

const mapped = (required: unknown, of: (words: string) => unknown): Fields =>
  Object.fromEntries(Object.entries(fieldsOf(required)).map(([name, words]) => [name, of(textOf(words))]))

/** Expectations that map to other facets, or are written in another form. */
const translations: Readonly<Record<string, Translation>> = {
  // A leading "..." matches any events before the others.
  events: (required, { events }) => {
    const [first, ...last] = listOf(required)
    return ["events", first === "..." ? [...events.slice(0, -last.length), ...last] : required]
  },
  cost: (required) => ["cost", { $gte: textOf(required).replace(">= ", "") }],
  neverRan: (required) => ["neverRan", { $unordered: required }],
  notFired: (required) => ["fired", { $excludes: required }],
  errorTextMentions: (required) => ["texts", { $all: listOf(required).map((words) => mentioning(words)) }],
  textMentions: (required) => ["texts", mentioning(required)],
  textOf: (required) => ["textOf", mapped(required, (words) => words.replaceAll('"', ""))],
  textEnds: (required) => ["textOf", mapped(required, (words) => ({ $contains: `\n\n${words}` }))]
}

const mentioning = (words: unknown): Fields => ({ $last: { $contains: inOurWords(textOf(words)) } })

const requiredOf = (expected: Fields, seen: LoopSeen): Fields =>
  Object.fromEntries(Object.entries(expected).map((one) => translations[one[0]]?.(one[1], seen) ?? one))

/** Replaces messages by our wording. */
const inOurWords = (words: string): string =>
  words
    .replace("Available tools:", "the tools are")
    .replace(/Did you mean "(\w+)"/, "did you mean $1")
    .replace("not valid JSON", "JSON")

/** Each message in the form of the case's own: by role, with its text, or with its call's id. */
const messagesLike = (seen: LoopSeen, required: unknown): ReadonlyArray<string> =>
  messagesOf(seen).map((message, index) => {
    const forms =
      message.role === "tool"
        ? [`tool:${message.toolCallId}`, `tool ${message.toolCallId}`]
        : [`${message.role}:${Message.text(message)}`, message.role]
    const form = textOf(listOf(required)[index])
    return forms.includes(form) ? form : (forms[0] ?? message.role)
  })

export const judged = (seen: LoopSeen, expected: Fields): ReadonlyArray<Difference> =>
  compared(
    { ...facets(seen), messages: messagesLike(seen, expected["messages"]) },
    { expected: requiredOf(expected, seen) }
  )
