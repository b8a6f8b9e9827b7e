/** The calls on the JSON form: converts a case's form to ours, and ours to the case's. */
import { isDeepStrictEqual } from "node:util"
import { ValidationError } from "@troupe/chat/errors"
import { Session } from "@troupe/chat/sessions"
import { Codec } from "@troupe/chat/store"
import { Tool } from "@troupe/chat/tools"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import type { Operation } from "../operations/operation.ts"
import {
  chatResultOf,
  findings,
  libraryError,
  messageOf,
  partOf,
  requestOf,
  responseOf,
  sessionFieldsOf,
  stepResultOf,
  threadOf,
  toolCallOf,
  usageOf
} from "./fromNeutral.ts"
import { camel, present, renamed } from "./naming.ts"
import { type Outcome, settled } from "../outcome.ts"
import {
  chatResultForm,
  errorForm,
  messageForm,
  partForm,
  requestForm,
  responseForm,
  sessionForm,
  stepResultForm,
  threadForm,
  toolCallForm,
  usageForm
} from "./toNeutral.ts"

type TypeName = (typeof Codec.types)[number]

/** One type of the cases: our name, the conversion of its fields to values and data, and the conversion back. */
interface Type {
  readonly name: TypeName
  readonly valueOf: (fields: Fields) => unknown
  readonly dataOf: (fields: Fields) => unknown
  readonly form: (value: never) => unknown
  /** The fields a case's form always has. */
  readonly fields?: ReadonlyArray<string>
}

/** A type whose values are their own data. */
const plain = (name: string, from: (fields: Fields) => unknown, form: Type["form"], fields?: Type["fields"]): Type => ({
  name: name as TypeName,
  valueOf: from,
  dataOf: from,
  form,
  ...(fields === undefined ? {} : { fields })
})

const errors = (name: TypeName): Type => ({
  name,
  valueOf: (fields) => libraryError({ ...fields, type: name }),
  dataOf: ({ message, errors: found, ...fields }) => ({
    type: name,
    message: message ?? "",
    ...present({ errors: name === "ValidationError" ? findings(found ?? []) : undefined }),
    ...renamed(present(fields), camel)
  }),
  form: (error) => errorForm(error)["$error"]
})

const toolForm = ({ name, description, schema, manual, metadata }: Tool.Tool): Fields => ({
  name,
  description,
  schema,
  manual,
  metadata
})

const types: Readonly<Record<string, Type>> = {
  Message: plain("Message", messageOf, messageForm, ["role", "content", "name", "tool_call_id", "metadata"]),
  ToolCall: plain("ToolCall", toolCallOf, toolCallForm, ["id", "name", "arguments", "raw_arguments", "metadata"]),
  Thread: plain("Thread", threadOf, threadForm),
  Request: plain("Request", requestOf, requestForm),
  Usage: plain("Usage", usageOf, usageForm),
  Response: plain("Response", responseOf, responseForm),
  StepResult: plain("StepResult", stepResultOf, stepResultForm),
  ChatResult: plain("ChatResult", chatResultOf, chatResultForm),
  Session: plain("Session", (fields) => Session.make(sessionFieldsOf(fields)), sessionForm),
  TextPart: plain("ContentPart", (fields) => partOf({ ...fields, $part: "text" }), partForm),
  ImagePart: plain("ContentPart", (fields) => partOf({ ...fields, $part: "image" }), partForm),
  Tool: {
    name: "Tool",
    valueOf: ({ schema, ...fields }) => Tool.make({ ...present(fields), jsonSchema: schema } as never),
    dataOf: present,
    form: toolForm
  },
  AdapterError: errors("AdapterError"),
  EngineError: errors("EngineError"),
  StreamError: errors("StreamError"),
  ToolError: errors("ToolError"),
  ValidationError: errors("ValidationError"),
  SessionError: errors("SessionError")
}

/** Whether we have a JSON form for a type of the cases. */
export const hasForm = (type: string): boolean => Codec.types.includes(types[type]?.name as TypeName)

/** The types that a case serializes, recursively. */
export const typesIn = (value: unknown): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap(typesIn)
  if (!isFields(value)) return []
  const below = Object.values(value).flatMap(typesIn)
  return "$type" in value && "fields" in value ? [textOf(value["$type"]), ...below] : below
}

/** The fields of typed values, without their type tags. */
const unmarked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isFields(value)) return value
  const { $type: type, fields, __type__: tag, data } = value
  if (type !== undefined) return unmarked(fields)
  if (typeof tag === "string" && known(tag) !== undefined) return unmarked(data)
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, unmarked(field)]))
}

/** The name in a type tag. */
export const nameOf = (tag: string): string => tag.replace(/^ALLM\./, "")

const known = (tag: string): Type | undefined => types[nameOf(tag)]

const typed = (value: unknown): { readonly type: Type; readonly made: never } => {
  const { $type: name, fields } = fieldsOf(value)
  const type = types[textOf(name)]
  if (type === undefined) throw new Error(`there is no type ${textOf(name)}`)
  return { type, made: type.valueOf(fieldsOf(unmarked(fields))) as never }
}

const survives = (value: unknown): boolean => {
  const { type, made } = typed(value)
  const back: object = Codec.decode(type.name, Codec.encode(type.name, made))
  return (
    isDeepStrictEqual(type.form(back as never), type.form(made)) &&
    Object.getPrototypeOf(back) === Object.getPrototypeOf(made)
  )
}

const written = (value: unknown): unknown => {
  const { type, made } = typed(value)
  const read = Codec.decodeAny(Codec.encode(type.name, made)).value
  const blank = Object.fromEntries((type.fields ?? []).map((field) => [field, null]))
  return { __type__: `ALLM.${type.name}`, data: { ...blank, ...fieldsOf(type.form(read as never)) } }
}

const dataIn = (type: Type | undefined, data: unknown): unknown =>
  type !== undefined && isFields(data) ? type.dataOf(fieldsOf(unmarked(data))) : data

const formOf = ({ type, value }: ReturnType<typeof Codec.decodeAny>): unknown => {
  const found = Object.values(types).find(({ name }) => name === type)
  return { $type: type, ...fieldsOf(found?.form(value as never)) }
}

const readJson = (json: unknown, as: unknown): unknown => {
  const { __type__: tag, ...rest } = fieldsOf(json)
  if (typeof tag === "string") {
    const type = known(tag)
    const data = "data" in rest ? { data: dataIn(type, rest["data"]) } : {}
    const name = type?.name ?? nameOf(tag)
    return formOf(Codec.decodeAny(JSON.stringify({ type: name, version: 1, ...data })))
  }
  if (as === undefined || !isFields(json)) return formOf(Codec.decodeAny(JSON.stringify(json)))
  const type = types[textOf(as)]
  const name = type?.name ?? (textOf(as) as TypeName)
  return formOf({ type: name, value: Codec.fromJson(name, dataIn(type, json)) } as ReturnType<typeof Codec.decodeAny>)
}

/** A finding in the case's form. */
const neutralFinding = ({
  field,
  reason
}: {
  readonly field: ReadonlyArray<string | number>
  readonly reason: string
}) => {
  const path = field.join(".")
  if (path === "type")
    return { field: ["format"], reason: reason === "missing" ? "missing_type_tag" : "unknown_type_tag" }
  if (path === "data") return { field, reason: reason === "missing" ? reason : "malformed_struct" }
  return { field, reason: reason === "unknown_value" ? "atom_decode_failed" : reason }
}

const reading = async (call: () => unknown): Promise<Outcome> => {
  const outcome = await settled(call)
  const { failure } = outcome
  if (!(failure instanceof ValidationError)) return outcome
  return { failure: new ValidationError("invalid_request", failure.errors.map(neutralFinding)) }
}

const equal = async (values: ReadonlyArray<unknown>): Promise<Outcome> => {
  const { ok, failure } = await settled(() => values.every(survives))
  return failure === undefined ? { equal: ok } : { failure }
}

/** The calls of this kind, by `when`. */
export const serializing: Readonly<Record<string, Operation>> = {
  round_trip: ({ value }) => equal([value]),
  round_trip_all: ({ values }) => equal(listOf(values)),
  to_json: async ({ value }) => {
    const { ok, failure } = await settled(() => written(value))
    return failure === undefined ? { json: ok } : { failure }
  },
  from_json: ({ text, json, as }) =>
    reading(() => (text === undefined ? readJson(json, as) : formOf(Codec.decodeAny(textOf(text)))))
}
