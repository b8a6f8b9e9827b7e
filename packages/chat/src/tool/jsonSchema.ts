/** JSON Schema as a Standard Schema. The validator and its patterns are loaded with the first value that is checked. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import { type Finding, isRecord, unknownNames, ValidationError } from "../errors/index.ts"
import type { compile } from "../schema/index.ts"

/** The compiler of schemas, once it is loaded. */
let loaded: typeof compile | undefined

/**
 * Makes a Standard Schema of a JSON Schema (draft 4, 6, 7, 2019-09 or 2020-12), for `parameters` and answers.
 *
 * **When to use**: to give the arguments a type, or to check formats. Otherwise a JSON Schema object can be passed as it is.
 * The type is not derived from the schema.
 *
 * **Details**: `formats: true` checks `date`, `date-time`, `time`, `duration`, `email`, `hostname`, `ipv4`, `ipv6`, `uri` and
 * `uuid`. Without it, `format` is an annotation. A value stays as it is: no default is filled in.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) when the schema is no object, and for unknown options.
 *
 * @example
 * ```ts
 * const parameters = jsonSchema<{ day: string }>(
 *   { type: "object", properties: { day: { type: "string", format: "date" } }, required: ["day"] },
 *   { formats: true }
 * )
 * ```
 */
export const jsonSchema = <A = Record<string, unknown>>(
  schema: Readonly<Record<string, unknown>>,
  options: { readonly formats?: boolean | undefined } = {}
): StandardSchemaV1<unknown, A> & {
  readonly "~standard": StandardSchemaV1.Props<unknown, A> & StandardJSONSchemaV1.Props<unknown, A>
} => {
  checkArguments(schema, options)
  let validator: ReturnType<typeof compile> | undefined
  const validate = (value: unknown, compiled: typeof compile): StandardSchemaV1.Result<A> => {
    validator ??= compiled(schema, { hasFormats: options.formats === true })
    const issues = validator(value)
    return issues.length === 0 ? { value: value as A } : { issues }
  }
  return {
    "~standard": {
      version: 1,
      vendor: "troupe",
      validate: (value) => {
        if (Object.keys(schema).length === 0) return { value: value as A }
        if (loaded !== undefined) return validate(value, loaded)
        return import("../schema/index.ts").then(({ compile }) => validate(value, (loaded = compile)))
      },
      jsonSchema: { input: () => schema, output: () => schema }
    }
  }
}

/** Loads the validator, so that the values that come later are checked synchronously. */
export const loadSchemas = async (): Promise<void> => {
  loaded ??= (await import("../schema/index.ts")).compile
}

const checkArguments = (schema: unknown, options: unknown): void => {
  const found: Array<Finding> = []
  if (!isRecord(schema)) found.push({ field: ["schema"], reason: "must_be_an_object of names and values" })
  if (isRecord(options)) {
    found.push(...unknownNames(options, ["formats"]))
    const { formats } = options
    if (formats !== undefined && typeof formats !== "boolean") {
      found.push({ field: ["formats"], reason: "must_be_a_boolean" })
    }
  } else found.push({ field: [], reason: "must_be_an_object of options" })
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}
