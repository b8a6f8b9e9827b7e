/**
 * The questions of a server to the user.
 *
 * ELICIT1. An accepted form fits its schema; any other answer is a cancel, and the server gets no invalid content.
 */
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client"
import { jsonSchema, type Tool } from "@troupe/chat/tools"

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
    const content = { ...defaultsOf(schema), ...answer.content }
    const { issues } = await jsonSchema(schema)["~standard"].validate(content)
    return issues === undefined ? { action: "accept", content } : { action: "cancel" }
  } catch {
    return { action: "cancel" }
  }
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
