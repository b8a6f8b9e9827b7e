/**
 * Reads the three kinds of schemas of arguments and answers: zod, any Standard Schema, raw JSON Schema.
 *
 * SCHEMA5. When zod cannot write a type as JSON Schema, the error says which type to write.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import { isObject, isRecord, quoted, ValidationError, type ValidationErrorReason } from "../errors/index.ts"
import { isPromiseLike } from "../async/index.ts"
import * as SchemaFindings from "../schema/SchemaFindings.ts"
import { jsonSchema } from "./jsonSchema.ts"
import type { ParsedArguments, Parameters } from "./toolContract.ts"

/**
 * The JSON Schema for the model, which `shown` replaces; throws a `ValidationError` with this reason and field if there is
 * none, or a wrong one (SCHEMA4).
 */
export const jsonSchemaOf = (
  parameters: Parameters,
  reason: ValidationErrorReason,
  field: ReadonlyArray<string>,
  shown?: Readonly<Record<string, unknown>>
): Readonly<Record<string, unknown>> => {
  const place = shown === undefined ? field : [...field.slice(0, -1), "jsonSchema"]
  const schema = shown ?? producedBy(parameters, reason, field)
  const fields = SchemaFindings.fieldsInPlace(schema)
  const found =
    fields === undefined
      ? SchemaFindings.of(schema)
      : [{ field: [], reason: `must_be_the_schema of an object; write ${objectOf(schema, fields)}` }]
  if (found.length === 0) return schema
  throw new ValidationError(
    reason,
    found.map((finding) => ({ ...finding, field: [...place, ...finding.field] }))
  )
}

/** The JSON Schema of the arguments of a tool: that of an object, as providers require. */
export const argumentsSchemaOf = (
  name: string,
  parameters: Parameters,
  shown: Readonly<Record<string, unknown>> | undefined
): Readonly<Record<string, unknown>> => {
  const schema = jsonSchemaOf(parameters, "invalid_tool", [name, "parameters"], shown)
  const { type = "object" } = schema
  if (type === "object") return { type, ...schema }
  if (Array.isArray(type) && type.includes("object")) return { ...schema, type: "object" }
  const place = shown === undefined ? "parameters" : "jsonSchema"
  const instead =
    isZod(parameters) && shown === undefined ? "z.object({ value: … })" : '{ type: "object", properties: { value: … } }'
  const found = { field: [name, place, "type"], reason: `must_be object, as arguments are; write ${instead}` }
  throw new ValidationError("invalid_tool", [found])
}

/** The schema of an object with these fields, as code. */
const objectOf = (fields: Readonly<Record<string, unknown>>, names: ReadonlyArray<string>): string => {
  const list = quoted(names.join(", "))
  const areZod = Object.values(fields).every((value) => isRecord(value) && isStandard(value) && isZod(value))
  return areZod ? `z.object({ ${list} })` : `{ type: "object", properties: { ${list} } }`
}

const producedBy = (
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
    const [, instead] = zodTypes.find(([type]) => type.test(why)) ?? []
    const advice = instead === undefined ? "" : `write ${instead}, or `
    throw new ValidationError(reason, [{ field, reason: `${why}; ${advice}pass the schema as \`jsonSchema\`` }], {
      cause
    })
  }
}

/** The errors of zod about types that JSON does not have, and what to write in place of the type (SCHEMA5). */
const zodTypes: ReadonlyArray<readonly [RegExp, string]> = [
  [/bigint literal/i, 'a number or a text, such as z.literal(3) or z.literal("3")'],
  [
    /bigint/i,
    "z.int() for integers below 2^53, z.string().regex(/^-?\\d+$/).transform(BigInt) for larger ones, which the model writes as text"
  ],
  [/\bdate\b/i, "z.iso.datetime() or z.iso.date(), with .transform((text) => new Date(text)) for a Date"],
  [/\bmap\b/i, "z.record(z.string(), …), with .transform((fields) => new Map(Object.entries(fields))) for a Map"],
  [/\bset\b/i, "z.array(…), with .transform((items) => new Set(items)) for a Set"],
  [/undefined|\bvoid\b/i, "the type with .optional(), or leave the field out"],
  [/\bnan\b/i, "z.number()"],
  [/symbol/i, "z.enum([…])"],
  [/custom types|function types/i, "the type that the model writes with a check, such as z.string().refine(…)"]
]

/**
 * The JSON Schema of the arguments in a tool of the AI SDK's packages: such a schema may be made by its first use. There is
 * none for arguments that are no object, such as a free text.
 */
export const packageSchema = (inputSchema: unknown): Parameters | undefined => {
  const made: unknown = typeof inputSchema === "function" && !isSchemaOf(inputSchema) ? inputSchema() : inputSchema
  if (isSchemaOf(made)) return made
  const schema: unknown = isObject(made) ? Reflect.get(made, "jsonSchema") : undefined
  const isOfObject = isRecord(schema) && !isPromiseLike(schema) && (schema["type"] ?? "object") === "object"
  return isOfObject ? schema : undefined
}

const isSchemaOf = (value: unknown): value is StandardSchemaV1 => isObject(value) && "~standard" in value

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

const isZod = (parameters: Parameters): boolean => isStandard(parameters) && parameters["~standard"].vendor === "zod"

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
