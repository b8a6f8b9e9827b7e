/**
 * Structured output: asks a model for an answer of a schema, and parses the answer.
 *
 * @module
 */
import { type Finding, ValidationError } from "../errors/index.ts"
import { jsonSchemaOf, type Parameters, pathOf, validate } from "../tool/index.ts"
import * as Responses from "../model/Response.ts"
import type { Response, ResponseFormat } from "../model/index.ts"
import { describe } from "../toolResult/index.ts"

/** The schema of an answer: a zod schema, any Standard Schema, or a JSON Schema object. */
type Schema<A = unknown> = Parameters<A>

/** The options of a response format. */
interface FormatOptions {
  /** Whether the provider must enforce the schema. Default: the provider's default. */
  readonly strict?: boolean | undefined
  /** JSON Schema of the answer, for Standard Schemas whose library cannot produce it. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
}

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
export const format = (
  name: string,
  schema: Schema,
  { strict, jsonSchema }: FormatOptions = {}
): Extract<ResponseFormat, { readonly type: "json_schema" }> => ({
  type: "json_schema",
  name,
  schema: { ...(jsonSchema ?? jsonSchemaOf(schema, "invalid_options", ["schema"])) },
  ...(strict === undefined ? {} : { strict })
})

/** The finish reasons of incomplete replies. */
const incomplete: ReadonlySet<unknown> = new Set(["length", "content_filter", "tool_calls", "error"])

/**
 * Reads a response's text as JSON of this schema.
 *
 * **Errors**: rejects with a `ValidationError` (`invalid_output`) when the reply is not complete, is not JSON, or does not
 * fit the schema; `errors` has the paths, `metadata.text` the text of the reply.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Chat, Engine, Fake, user } from "@troupe/chat"
 * import { StructuredOutput } from "@troupe/chat/models"
 * import * as z from "zod"
 *
 * const City = z.object({ name: z.string() })
 * const adapter = Fake.make({ script: [{ text: '{"name":"Oslo"}' }, { finish: "stop" }] })
 * const responseFormat = StructuredOutput.format("city", City)
 * const response = await Chat.generate(Engine.make({ adapter }), [user("Norway's capital?")], { responseFormat })
 * const city = await StructuredOutput.parse(response, City)
 * city.name // => "Oslo"
 * ```
 */
export const parse = async <A = unknown>(response: Response, schema: Schema<A>): Promise<A> => {
  const said = Responses.text(response)
  const { finishReason, metadata } = response
  if (incomplete.has(finishReason)) {
    throw invalid(
      said,
      [{ field: ["finishReason"], reason: `the reply ended with ${finishReason}` }],
      metadata["error"]
    )
  }
  let value: unknown
  try {
    value = JSON.parse(said)
  } catch (cause) {
    throw invalid(said, [{ field: ["outputText"], reason: `is no JSON: ${describe(cause)}` }], cause)
  }
  const result = await validate(schema, value)
  if (result.issues === undefined) return result.value as A
  throw invalid(
    said,
    result.issues.map((issue) => ({ field: pathOf(issue), reason: issue.message }))
  )
}

const invalid = (said: string, errors: ReadonlyArray<Finding>, cause?: unknown): ValidationError =>
  new ValidationError("invalid_output", errors, { cause, metadata: { text: said } })
