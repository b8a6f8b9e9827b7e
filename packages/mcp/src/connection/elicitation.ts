/**
 * The questions of a server to the user.
 *
 * ELICIT1. An accepted form fits its schema; any other answer is a cancel, and the server gets no invalid content.
 */
import type { ElicitRequest, ElicitResult, InputRequiredResult } from "@modelcontextprotocol/client"
import { type Decision, jsonSchema, type Tool } from "@troupe/chat/tools"
import type { Asked, AskedState, SampleParams } from "./mcpCall.ts"

/**
 * A question of a server.
 *
 * - `form`: the user fills in a form; `schema` describes its fields
 * - `url`: the user opens a page
 */
export type Elicitation = {
  /** The name of the server. */
  readonly server: string
  /** The text of the question. It is not verified. */
  readonly message: string
  /** The calls that run at the server: one of them asks. */
  readonly toolCalls: ReadonlyArray<Tool.ToolContext["toolCall"]>
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal
} & (
  | { readonly mode: "form"; readonly schema: Readonly<Record<string, unknown>> }
  | { readonly mode: "url"; readonly url: string; readonly id: string }
)

/** The answer of the user. `content` has the fields of a form. */
export type ElicitationAnswer =
  | {
      readonly action: "accept"
      readonly content?: Readonly<Record<string, string | number | boolean | Array<string>>> | undefined
    }
  | { readonly action: "decline" | "cancel" }

/**
 * Answers a question of a server.
 *
 * **Contract**: a throw or a rejection cancels the question.
 */
export type Elicit = (elicitation: Elicitation) => ElicitationAnswer | Promise<ElicitationAnswer>

/** Asks the host, and checks the answer (ELICIT1). */
export const elicited = async (
  elicit: Elicit,
  params: ElicitRequest["params"],
  about: Pick<Elicitation, "server" | "toolCalls" | "signal">
): Promise<ElicitResult> => {
  try {
    if (params.mode === "url") {
      const { action } = await elicit({
        ...about,
        mode: "url",
        message: params.message,
        url: params.url,
        id: params.elicitationId
      })
      return { action }
    }
    const schema = params.requestedSchema
    const answer = await elicit({ ...about, mode: "form", message: params.message, schema })
    if (answer.action !== "accept") return { action: answer.action }
    return (await filledIn(schema, answer.content)) ?? { action: "cancel" }
  } catch {
    return { action: "cancel" }
  }
}

/** The answers of the host to several questions: cancels, if it answers none. */
export const answeredByHost = async (
  elicit: Elicit | false | undefined,
  requests: Readonly<Record<string, Asked>>,
  about: Pick<Elicitation, "server" | "toolCalls" | "signal">
): Promise<Readonly<Record<string, ElicitResult>>> => {
  const answers: Record<string, ElicitResult> = {}
  for (const [id, asked] of Object.entries(requests))
    answers[id] = elicit === undefined || elicit === false ? { action: "cancel" } : await elicited(elicit, asked, about)
  return answers
}

type FormSchema = Extract<Asked, { readonly requestedSchema: unknown }>["requestedSchema"]

/** The form with its defaults; `undefined` if it does not fit its schema (ELICIT1). */
const filledIn = async (schema: FormSchema, given: unknown): Promise<ElicitResult | undefined> => {
  if (typeof given !== "object" && given !== undefined) return undefined
  const content: Content = { ...defaultsOf(schema), ...given }
  const { issues } = await jsonSchema(schema)["~standard"].validate(content)
  return issues === undefined ? { action: "accept", content } : undefined
}

/** The most characters of the schema of a form. */
const mostSchema = 15_000

/** Whether a person can be asked: a larger form is cancelled. */
export const isAskable = (asked: Asked): boolean =>
  asked.mode === "url" || JSON.stringify(asked.requestedSchema).length <= mostSchema

/** The questions of a server, as questions of its call. The fields with defaults are not required of the person. */
export const questionsOf = (server: string, requests: Readonly<Record<string, Asked>>) =>
  Object.entries(requests).map(([id, asked]) => {
    if (asked.mode === "url") return { id, question: asked.message, options: { server, url: asked.url } }
    const { requestedSchema: schema } = asked
    const defaults = defaultsOf(schema)
    const required = (schema.required ?? []).filter((name) => !(name in defaults))
    return { id, question: asked.message, options: { server, schema: { ...schema, required } } }
  })

/** The answers for the server; `undefined` if a form does not fit, so that the questions are asked again. */
export const answersOf = async (
  requests: Readonly<Record<string, Asked>>,
  decisions: Readonly<Record<string, Decision>>
): Promise<Readonly<Record<string, ElicitResult>> | undefined> => {
  const answers: Record<string, ElicitResult> = {}
  for (const [id, asked] of Object.entries(requests)) {
    const decision = decisions[id]
    const filled =
      decision?.type !== "result"
        ? { action: decision?.type === "deny" ? ("decline" as const) : ("cancel" as const) }
        : asked.mode === "url"
          ? { action: "accept" as const }
          : await filledIn(asked.requestedSchema, decision.value)
    if (filled === undefined) return undefined
    answers[id] = filled
  }
  return answers
}

/** The rules of the program for what a result asks. */
interface Rules {
  readonly roots: { readonly roots: ReadonlyArray<object> }
  /** Answers a request to the model; returns the question to a person that comes first, if there is one. */
  readonly sample: (params: SampleParams) => Promise<{ readonly ask: Asked } | { readonly response: unknown }>
}

/** What a result asks of a person, and the responses that the program gives by itself. */
export const embeddedIn = async (
  { inputRequests = {}, requestState }: InputRequiredResult,
  { roots, sample }: Rules
): Promise<{ readonly requests: Record<string, Asked>; readonly state: AskedState }> => {
  const requests: Record<string, Asked> = {}
  const responses: Record<string, unknown> = {}
  const samples: Record<string, SampleParams> = {}
  for (const [id, { method, params }] of Object.entries(inputRequests)) {
    if (method === "elicitation/create") {
      if (isAskable(params)) requests[id] = params
      else responses[id] = { action: "cancel" }
    } else if (method === "sampling/createMessage") {
      const end = await sample(params)
      if ("response" in end) responses[id] = end.response
      else {
        requests[id] = end.ask
        samples[id] = params
      }
    } else responses[id] = roots
  }
  return { requests, state: { requestState, responses, samples } }
}

/** The parameters with which a call goes on. */
export const inputOf = (
  state: AskedState | undefined,
  answers: Readonly<Record<string, unknown>> = {}
): Readonly<Record<string, unknown>> | undefined => {
  if (state === undefined) return undefined
  const { requestState, responses } = state
  const inputResponses = { ...responses, ...answers }
  return { inputResponses, ...(requestState === undefined ? {} : { requestState }) }
}

type Content = NonNullable<ElicitResult["content"]>

/** The defaults of the fields of a form. */
const defaultsOf = ({
  properties
}: {
  readonly properties: Readonly<Record<string, { default?: unknown }>>
}): Content =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, field]) => (field.default === undefined ? [] : [[name, field.default]]))
  ) as Content
