/**
 * The fields of a form, read from a JSON Schema with one level, as MCP servers send it.
 *
 * **Details**: the schema can come from a server that is not trusted. Its `pattern` is not given to the browser: the chat checks each answer.
 */

/** A value that a person can choose, with its text. */
interface Choice {
  readonly value: string
  readonly label: string
}

/** One field. `input` are attributes of the HTML element. */
export interface Field {
  readonly name: string
  readonly label: string
  readonly note: string | undefined
  readonly isRequired: boolean
  readonly kind: "text" | "number" | "boolean" | "choice" | "choices"
  readonly input: Readonly<Record<string, string | number | undefined>>
  readonly choices: ReadonlyArray<Choice>
  readonly initial: unknown
}

type Schema = Readonly<Record<string, unknown>>

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const textIn = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

const numberIn = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** The texts of an `enum`, or of the constants of `oneOf` or `anyOf`; `undefined` if the schema lists no texts. */
const choicesIn = (schema: Schema): ReadonlyArray<Choice> | undefined => {
  const { enum: values, enumNames, oneOf, anyOf } = schema
  const listed = oneOf ?? anyOf
  const names: ReadonlyArray<unknown> = Array.isArray(enumNames) ? enumNames : []
  const pairs: ReadonlyArray<readonly [unknown, unknown]> | undefined = Array.isArray(values)
    ? values.map((value: unknown, at) => [value, names[at]] as const)
    : Array.isArray(listed)
      ? listed.map((one: unknown) => (isSchema(one) ? ([one["const"], one["title"]] as const) : ([one, one] as const)))
      : undefined
  return pairs?.flatMap(([value, name]) => (typeof value === "string" ? [{ value, label: textIn(name) ?? value }] : []))
}

const inputTypes: Readonly<Record<string, string>> = {
  email: "email",
  uri: "url",
  date: "date"
}

const kindOf = (schema: Schema): Pick<Field, "kind" | "input" | "choices"> | undefined => {
  const { type, format, items } = schema
  const choices = type === "array" ? (isSchema(items) ? choicesIn(items) : undefined) : choicesIn(schema)
  if (choices !== undefined) return { kind: type === "array" ? "choices" : "choice", input: {}, choices }
  switch (type) {
    case "string": {
      const input = {
        type: inputTypes[textIn(format) ?? ""] ?? "text",
        minLength: numberIn(schema["minLength"]),
        maxLength: numberIn(schema["maxLength"]),
        placeholder: format === "date-time" ? "2026-01-31T12:00:00Z" : undefined
      }
      return { kind: "text", input, choices: [] }
    }
    case "number":
    case "integer": {
      const step = type === "integer" ? 1 : "any"
      const input = { type: "number", step, min: numberIn(schema["minimum"]), max: numberIn(schema["maximum"]) }
      return { kind: "number", input, choices: [] }
    }
    case "boolean":
      return { kind: "boolean", input: {}, choices: [] }
    default:
      return undefined
  }
}

/** The fields of the schema in the options of a question; `undefined` if there is none, or if it has a field of another kind. */
export const fieldsOf = (options: Schema | undefined): ReadonlyArray<Field> | undefined => {
  const schema = options?.["schema"]
  if (!isSchema(schema) || schema["type"] !== "object" || !isSchema(schema["properties"])) return undefined
  const required: ReadonlyArray<unknown> = Array.isArray(schema["required"]) ? schema["required"] : []
  const fields: Array<Field> = []
  for (const [name, property] of Object.entries(schema["properties"])) {
    const kind = isSchema(property) ? kindOf(property) : undefined
    if (kind === undefined || !isSchema(property)) return undefined
    const { title, description, default: initial } = property
    const isRequired = required.includes(name)
    fields.push({ name, label: textIn(title) ?? name, note: textIn(description), isRequired, initial, ...kind })
  }
  return fields
}

/** The page that a person has to open, of the options of a question. */
export const pageIn = (options: Schema | undefined): string | undefined => textIn(options?.["url"])

/** Whether an MCP server asks: such a question can be declined. */
export const canDecline = (options: Schema | undefined): boolean =>
  options?.["schema"] !== undefined || pageIn(options) !== undefined

/** The name of a field in the page: names of a server could hide properties of the form. */
export const fieldId = (at: number): string => `field-${at}`

const valueOf = ({ kind }: Field, given: ReadonlyArray<string>): unknown => {
  const [text = ""] = given
  if (kind === "boolean") return given.length > 0
  if (kind === "choices") return given
  if (text === "") return undefined
  return kind === "number" ? Number(text) : text
}

/** What a person filled in, as an object. An empty field is left out. */
export const filledIn = (fields: ReadonlyArray<Field>, data: FormData): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    fields.flatMap((field, at) => {
      const value = valueOf(
        field,
        data.getAll(fieldId(at)).filter((one) => typeof one === "string")
      )
      const isLeftOut = value === undefined || (Array.isArray(value) && value.length === 0 && !field.isRequired)
      return isLeftOut ? [] : [[field.name, value] as const]
    })
  )
