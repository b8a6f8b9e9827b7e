/** Reads the three ways to describe a tool's arguments: zod, any Standard Schema, raw JSON Schema. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import * as z from "zod"
import { ValidationError } from "../ChatError.ts"
import type { ParsedArguments, Parameters } from "../Tool.ts"

/** The JSON Schema a model is shown. */
export const jsonSchemaOf = (toolName: string, parameters: Parameters): Readonly<Record<string, unknown>> => {
  if (!isStandard(parameters))
    return Object.keys(parameters).length === 0 ? { type: "object", properties: {} } : parameters
  const standard: Partial<StandardJSONSchemaV1.Props> = parameters["~standard"]
  if (standard.jsonSchema === undefined) {
    throw new ValidationError("invalid_tool", [
      {
        field: [toolName, "parameters"],
        reason: `${parameters["~standard"].vendor} cannot produce JSON Schema; pass it as \`jsonSchema\``
      }
    ])
  }
  const { $schema: _, ...schema } = standard.jsonSchema.input({ target: "draft-2020-12" })
  return schema
}

/** The function that checks a call's arguments. Reading a JSON Schema is costly, so it waits for the first call. */
export const parserOf = (
  parameters: Parameters
): ((args: Record<string, unknown>) => ParsedArguments | PromiseLike<ParsedArguments>) => {
  let schema: StandardSchemaV1 | undefined = isStandard(parameters) ? parameters : undefined
  return (args) => {
    schema ??= fromJsonSchema(parameters as Readonly<Record<string, unknown>>)
    const result = schema["~standard"].validate(args)
    return result instanceof Promise ? result.then(read) : read(result)
  }
}

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
        issues: result.issues.map((issue) => ({
          path: (issue.path ?? []).map((step) => String(typeof step === "object" ? step.key : step)).join("."),
          message: issue.message
        }))
      }
