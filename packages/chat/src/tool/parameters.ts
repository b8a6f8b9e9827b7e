/** Reads the three ways to describe arguments, and answers: zod, any Standard Schema, raw JSON Schema. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import * as z from "zod"
import { ValidationError, type ValidationErrorReason } from "../errors/index.ts"
import type { ParsedArguments, Parameters } from "./toolContract.ts"

/** The JSON Schema a model is shown; throws a `ValidationError` with this reason and field where there is none. */
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
  const { $schema: _, ...schema } = standard.jsonSchema.input({ target: "draft-2020-12" })
  return schema
}

/** What the description says of a value. */
export const validate = (
  parameters: Parameters,
  value: unknown
): StandardSchemaV1.Result<unknown> | Promise<StandardSchemaV1.Result<unknown>> =>
  standardOf(parameters)["~standard"].validate(value)

/** The function that checks a call's arguments. Reading a JSON Schema is costly, so it waits for the first call. */
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
  isStandard(parameters) ? parameters : fromJsonSchema(parameters)

const isStandard = (parameters: Parameters): parameters is StandardSchemaV1 => "~standard" in parameters

/** A schema that uses what zod cannot read checks nothing: the tool itself has the last word. */
const fromJsonSchema = (schema: Readonly<Record<string, unknown>>): StandardSchemaV1 => {
  try {
    return z.fromJSONSchema(schema)
  } catch {
    return z.record(z.string(), z.unknown())
  }
}

const read = (result: StandardSchemaV1.Result<unknown>): ParsedArguments =>
  result.issues === undefined
    ? { valid: true, arguments: result.value as Record<string, unknown> }
    : {
        valid: false,
        issues: result.issues.map((issue) => ({ path: pathOf(issue).join("."), message: issue.message }))
      }

/** Where an issue is. */
export const pathOf = ({ path = [] }: StandardSchemaV1.Issue): ReadonlyArray<string> =>
  path.map((step) => String(typeof step === "object" ? step.key : step))
