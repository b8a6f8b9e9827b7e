/**
 * The form that an answer must have: from a schema, and from the question itself.
 *
 * **Details**: a question of a live chat carries its form in its metadata, so that the form is stored, waits and is retried
 * with the question.
 */
import { wellFormed } from "../json/index.ts"
import { isInjected, isNudge } from "../record/index.ts"
import { type Message, ResponseFormat, type Thread, type UserMessage } from "../model/index.ts"
import { jsonSchemaOf, type Parameters } from "../tool/index.ts"

/**
 * The `responseFormat` that asks for JSON of this schema; `name` is its name at the provider.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for a schema that cannot be expressed as JSON Schema.
 *
 * @example
 * ```ts import.meta.vitest
 * import { StructuredOutput } from "@troupe/chat/models"
 * import * as z from "zod"
 *
 * const format = StructuredOutput.format("city", z.object({ name: z.string() }))
 * format.type // => "json_schema"
 * ```
 */
export const formatOf = (
  name: string,
  schema: Parameters,
  {
    strict,
    jsonSchema
  }: {
    /** Whether the provider must enforce the schema. Default: the provider's default. */
    readonly strict?: boolean | undefined
    /** JSON Schema of the answer, for Standard Schemas whose library cannot produce it. */
    readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
  } = {}
): Extract<ResponseFormat, { readonly type: "json_schema" }> => ({
  type: "json_schema",
  name,
  schema: { ...wellFormed(jsonSchemaOf(schema, "invalid_options", ["schema"], jsonSchema)) },
  ...(strict !== undefined && { strict })
})

/** The options with the format of their `schema`, unless they have a format. */
export const withFormat = <
  Options extends {
    readonly schema?: Parameters | undefined
    readonly responseFormat?: ResponseFormat | undefined
  }
>(
  options: Options
): Options =>
  options.schema === undefined || options.responseFormat !== undefined
    ? options
    : { ...options, responseFormat: formatOf(defaultName, options.schema) }

const defaultName = "object"

const mark = "responseFormat"

/** The question with the form of its answer. */
export const asking = (message: UserMessage, schema: Parameters): UserMessage =>
  marked(message, formatOf(defaultName, schema))

const marked = <M extends Message>(message: M, format: ResponseFormat): M => ({
  ...message,
  metadata: { ...message.metadata, [mark]: format }
})

/** The form that the last question of a thread asks for, if it has one. */
export const askedFormat = ({ messages }: Thread): ResponseFormat | undefined => {
  const question = messages.findLast((message) => message.role === "user" && !isInjected(message) && !isNudge(message))
  const format = question?.metadata?.[mark]
  return format === undefined ? undefined : ResponseFormat.safeParse(format).data
}

/** A message that continues the turn of the last question, with the form of that question unless it has its own. */
export const continuing = <M extends Message>(thread: Thread, message: M): M => {
  const format = message.role === "user" && message.metadata?.[mark] === undefined ? askedFormat(thread) : undefined
  return format === undefined ? message : marked(message, format)
}

/**
 * The options of a live chat with the form that its question asks for; other runs have the form of their options only. Without
 * a JSON Schema a live chat has one pass (TWO3).
 */
export const inForm = <
  Options extends {
    readonly chat?: object | undefined
    readonly structuredFinalize?: boolean | undefined
    readonly responseFormat?: ResponseFormat | undefined
  }
>(
  options: Options,
  asked: ResponseFormat | undefined
): Options => {
  if (options.chat === undefined) return options
  const { structuredFinalize, responseFormat } = options
  const form = asked ?? responseFormat
  const hasOnePass = structuredFinalize === true && form?.type !== "json_schema"
  if (asked === undefined && !hasOnePass) return options
  return { ...options, responseFormat: form, ...(hasOnePass ? { structuredFinalize: false } : {}) }
}

/** Whether an answer of this form is JSON. */
export const isJson = (format: ResponseFormat | undefined): boolean => format !== undefined && format.type !== "text"
