/** Reads the three kinds of schemas of arguments and answers: zod, any Standard Schema, raw JSON Schema. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import { ValidationError, type ValidationErrorReason } from "../errors/index.ts"
import { jsonSchema } from "./jsonSchema.ts"
import type { ParsedArguments, Parameters } from "./toolContract.ts"

/** The JSON Schema for the model; throws a `ValidationError` with this reason and field if there is none. */
export const jsonSchemaOf = (
  parameters: Parameters,
  reason: ValidationErrorReason,
  field: ReadonlyArray<string>
): Readonly<Record<string, unknown>> => {
  if (!isStandard(parameters))
    return Object.keys(parameters).length === 0 ? { type: "object", properties: {} } : parameters
  const standard: Partial<StandardJSONSchemaV1.Props> = parameters["~standard"]
  if (standard.jsonSchema === undefined) {
    const { vendor } = parameters["~standard"]
    throw new ValidationError(reason, [
      { field, reason: `${vendor} cannot produce JSON Schema; pass it as \`jsonSchema\`` }
    ])
  }
  try {
    const { $schema: _, ...schema } = standard.jsonSchema.input({ target: "draft-2020-12" })
    return schema
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const found = [{ field, reason: `${why}; use a type that JSON has, such as z.iso.datetime() for a date` }]
    throw new ValidationError(reason, found, { cause })
  }
}

/** Validates a value against the schema. */
export const validate = (
  parameters: Parameters,
  value: unknown
): StandardSchemaV1.Result<unknown> | Promise<StandardSchemaV1.Result<unknown>> =>
  standardOf(parameters)["~standard"].validate(value)

/** The function that checks a call's arguments. A JSON Schema is compiled by the first call. */
export const parserOf = (
  parameters: Parameters
): ((args: Record<string, unknown>) => ParsedArguments | PromiseLike<ParsedArguments>) => {
  let schema: StandardSchemaV1 | undefined
  return (args) => {
    schema ??= standardOf(parameters)
    const result = schema["~standard"].validate(args)
    return result instanceof Promise ? result.then(read) : read(result)
  }
}

const standardOf = (parameters: Parameters): StandardSchemaV1 =>
  isStandard(parameters) ? parameters : jsonSchema(parameters)

const isStandard = (parameters: Parameters): parameters is StandardSchemaV1 => "~standard" in parameters

const read = (result: StandardSchemaV1.Result<unknown>): ParsedArguments =>
  result.issues === undefined
    ? { valid: true, arguments: result.value as Record<string, unknown> }
    : {
        valid: false,
        issues: result.issues.map((issue) => ({ path: pathOf(issue).join("."), message: issue.message }))
      }

/** The path of an issue. */
export const pathOf = ({ path = [] }: StandardSchemaV1.Issue): ReadonlyArray<string> =>
  path.map((step) => String(typeof step === "object" ? step.key : step))
