/**
 * The questions of a chat or a tool to the user of the client.
 *
 * ASKED1. A client that takes no forms gets the questions as text, and answers with its next call.
 * ASKED2. The state that a client echoes names only a conversation of its owner: the state is no secret and no permission.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServer,
  type ServerContext
} from "@modelcontextprotocol/server"
import * as z from "zod"

/** A question: free text, or a decision about a call. */
export interface Question {
  readonly id: string
  readonly text: string
  readonly kind: "text" | "decision"
}

const State = z.object({ conversation: z.string(), questions: z.array(z.string()) })

/** The state of a call between its rounds: the conversation, and the ids of its questions. */
export type State = z.infer<typeof State>

/** The result of a call, or the questions that come first. */
export type Answered = CallToolResult | InputRequiredResult

/** The state that the client echoes; nothing in the first round. */
export const stateOf = ({ mcpReq }: ServerContext): State | undefined => {
  const text = mcpReq.requestState()
  if (typeof text !== "string") return undefined
  try {
    return State.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Whether the client takes forms. */
const takesForms = ({ server }: McpServer, { mcpReq }: ServerContext): boolean => {
  const sent: { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {}
  const { elicitation } = sent[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities() ?? {}
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** Asks the questions by forms, or by text (ASKED1). */
export const ask = (
  server: McpServer,
  context: ServerContext,
  questions: ReadonlyArray<Question>,
  conversation: string
): Answered => {
  if (!takesForms(server, context)) {
    const text = questions.map((question) => question.text).join("\n")
    return { content: [{ type: "text", text }], structuredContent: { text, conversation } }
  }
  const state: State = { conversation, questions: questions.map(({ id }) => id) }
  const forms = questions.map((question, at) => [`q${at}`, inputRequired.elicit(formOf(question))] as const)
  return inputRequired({ inputRequests: Object.fromEntries(forms), requestState: JSON.stringify(state) })
}

const formOf = ({ text, kind }: Question) => ({
  message: text,
  requestedSchema: {
    type: "object" as const,
    properties:
      kind === "text"
        ? { answer: { type: "string" as const, title: "Answer" } }
        : { answer: { type: "string" as const, title: "Decision", enum: ["allow", "deny"] } },
    required: ["answer"]
  }
})

/** The answer to the question at a place of the state; nothing if the user declined. */
export const answerAt = ({ mcpReq }: ServerContext, at: number): string | undefined => {
  const response = inputResponse(mcpReq.inputResponses, `q${at}`)
  if (response.kind !== "elicit" || response.action !== "accept") return undefined
  const answer = response.content?.["answer"]
  return typeof answer === "string" && answer.trim() !== "" ? answer : undefined
}
