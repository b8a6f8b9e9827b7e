/** The calls on values of the library's types: they are made, checked, written as JSON and read from it. */
import { isDeepStrictEqual } from "node:util"
import * as ResponseModel from "../../../../packages/chat/src/model/Response.ts"
import * as Validate from "../../../../packages/chat/src/model/Validate.ts"
import { Engine } from "@troupe/chat"
import { ValidationError } from "@troupe/chat/errors"
import { Message, Thread, ToolCall, Usage } from "@troupe/chat/messages"
import { Request } from "@troupe/chat/models"
import { Session } from "@troupe/chat/sessions"
import { Codec } from "@troupe/chat/store"
import { Tool } from "@troupe/chat/tools"
import { type Fields, fieldsOf, isFields, listOf, present, textOf } from "../../runner/json.ts"
import { unexaminedCase } from "../../runner/suite.ts"
import { type Operation, type Outcome, settled, valued } from "../outcome.ts"
import { forms } from "../values/forms.ts"
import * as Plain from "../values/plain.ts"

type TypeName = (typeof Codec.types)[number]

/** One type of the cases. */
interface Type {
  /** The name of its JSON form, if it differs. */
  readonly name?: string
  readonly from: (fields: Fields) => unknown
  readonly to: (value: never) => unknown
  /** The data in its JSON form, if they are not the value. */
  readonly data?: (fields: Fields) => unknown
  /** Checks a value. */
  readonly schema?: { parse(value: unknown): unknown }
  /** The fields that a case's form always has. */
  readonly fields?: string
}

const errorType = (type: string): Type => ({
  from: (fields) => Plain.typedError({ ...fields, type }),
  to: (error) => Plain.errorForm(error)["$error"],
  data: ({ message = "", errors: found = [], ...fields }) => ({
    type,
    message,
    ...(type === "ValidationError" ? { errors: Plain.findings(found) } : {}),
    ...Plain.renamed(present(fields), Plain.camel)
  })
})

const part = (type: string): Type => ({
  name: "ContentPart",
  from: (fields) => Plain.partOf({ ...fields, $part: type }),
  to: Plain.partForm
})

const types: Readonly<Record<string, Type>> = {
  Message: { ...forms.message, schema: Message.Message, fields: "role content name tool_call_id metadata" },
  ToolCall: { ...forms.toolCall, schema: ToolCall.ToolCall, fields: "id name arguments raw_arguments metadata" },
  Thread: { ...forms.thread, schema: Thread.Thread },
  Request: { ...forms.request, schema: Request },
  Usage: { from: Plain.usageOf, to: Plain.usageForm, schema: Usage.Usage },
  Response: { ...forms.response, schema: ResponseModel.Response },
  StepResult: forms.stepResult,
  ChatResult: forms.chatResult,
  Session: { from: (fields) => Session.make(forms.session.from(fields)), to: forms.session.to },
  TextPart: part("text"),
  ImagePart: part("image"),
  Tool: {
    from: ({ schema, ...fields }) => Tool.make({ ...present(fields), jsonSchema: schema } as never),
    to: ({ name, description, schema, manual, metadata }: Tool.Tool) => ({
      name,
      description,
      schema,
      manual,
      metadata
    }),
    data: present
  },
  Engine: {
    from: (fields) => Engine.make(Plain.renamed(fieldsOf(Plain.construct(fields)), Plain.camel)),
    to: ({ adapter, tools, ...rest }: Engine.Engine) =>
      Plain.renamed({ ...rest, adapter: adapter?.name, tools: tools.map(({ name }) => ({ name })) }, Plain.snake)
  },
  ...Object.fromEntries(Object.keys(Plain.errorTypes).map((name) => [name, errorType(name)]))
}

/** The name of a type's JSON form. */
const formName = (type: string): TypeName => (types[type]?.name ?? type) as TypeName

const make: Operation = ({ type: name, fields }) =>
  valued(() => {
    const given = fieldsOf(fields)
    if (name === "Tool") return Tool.make(given as never)
    const type = typeOf(name)
    const made = name === "ToolCall" && !("arguments" in given) ? given : type.from(given)
    return type.to((type.schema?.parse(made) ?? made) as never)
  })

const typeOf = (name: unknown): Type => types[textOf(name)] ?? unexaminedCase(`${textOf(name)} values`)

/** The fields of typed values, without their type tags. */
const unmarked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isFields(value)) return value
  const { $type: type, fields, __type__: tag, data } = value
  if (type !== undefined) return unmarked(fields)
  if (typeof tag === "string" && nameIn(tag) in types) return unmarked(data)
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, unmarked(field)]))
}

/** The name in a type tag. */
const nameIn = (tag: string): string => tag.replace(/^ALLM\./, "")

const typed = (value: unknown) => {
  const { $type, fields } = fieldsOf(value)
  const type = typeOf($type)
  const name = formName(textOf($type))
  if (!Codec.types.includes(name)) unexaminedCase(`${name} values`)
  const made = type.from(fieldsOf(unmarked(fields))) as never
  return { type, name, made, text: Codec.encode(name, made) }
}

const survives = (value: unknown): boolean => {
  const { type, name, made, text } = typed(value)
  const back: object = Codec.decode(name, text)
  return (
    isDeepStrictEqual(type.to(back as never), type.to(made)) &&
    Object.getPrototypeOf(back) === Object.getPrototypeOf(made)
  )
}

const written = (value: unknown): unknown => {
  const { type, name, text } = typed(value)
  const blank = Object.fromEntries((type.fields?.split(" ") ?? []).map((field) => [field, null]))
  const data = { ...blank, ...fieldsOf(type.to(Codec.decodeAny(text).value as never)) }
  return { __type__: `ALLM.${name}`, data }
}

const dataIn = (type: Type | undefined, data: unknown): unknown =>
  type !== undefined && isFields(data) ? (type.data ?? type.from)(fieldsOf(unmarked(data))) : data

const formOf = ({ type, value }: { readonly type: string; readonly value: unknown }): Fields => {
  const name = Object.keys(types).find((key) => formName(key) === type) ?? ""
  return { $type: type, ...fieldsOf(types[name]?.to(value as never)) }
}

const readJson = (json: unknown, as: unknown): unknown => {
  const { __type__: tag, ...rest } = fieldsOf(json)
  const named = typeof tag === "string" ? nameIn(tag) : textOf(as)
  const type = types[named]
  const name = formName(named)
  if (typeof tag === "string") {
    const data = "data" in rest ? { data: dataIn(type, rest["data"]) } : {}
    return formOf(Codec.decodeAny(JSON.stringify({ type: name, version: 1, ...data })))
  }
  if (as === undefined || !isFields(json)) return formOf(Codec.decodeAny(JSON.stringify(json)))
  return formOf({ type: name, value: Codec.fromJson(name, dataIn(type, json)) })
}

/** A finding in the case's form. */
const neutralFinding = ({ field, reason }: ValidationError["errors"][number]) => {
  const path = field.join(".")
  if (path === "type") return { field: ["format"], reason: `${reason === "missing" ? reason : "unknown"}_type_tag` }
  if (path === "data") return { field, reason: reason === "missing" ? reason : "malformed_struct" }
  return { field, reason: reason === "unknown_value" ? "atom_decode_failed" : reason }
}

const reading = async (call: () => unknown): Promise<Outcome> => {
  const { ok, failure } = await settled(call)
  if (!(failure instanceof ValidationError)) return { ok, failure }
  return { failure: new ValidationError("invalid_request", failure.errors.map(neutralFinding)) }
}

const checked =
  (check: (value: never) => ValidationError | undefined, from: (value: unknown) => unknown): Operation =>
  ({ value }) => {
    const failure = check(from(value) as never)
    return failure === undefined ? { ok: true } : { failure }
  }

const sessionParts = (value: unknown): unknown => {
  const { status = "idle", thread, pending_question: question, pending_tool_call_id: toolCallId } = fieldsOf(value)
  return {
    pendingToolCalls: [],
    context: {},
    ...forms.session.from(value),
    thread: forms.thread.from(thread),
    status: textOf(status ?? "idle"),
    pendingQuestion: typeof question === "string" ? { question, toolCallId, options: {} } : undefined
  }
}

/** The calls of this kind, by `when`. */
export const typeOperations: Readonly<Record<string, Operation>> = {
  new: make,
  round_trip: ({ value }) => valued(() => survives(value), "equal"),
  round_trip_all: ({ values }) => valued(() => listOf(values).every(survives), "equal"),
  to_json: ({ value }) => valued(() => written(value), "json"),
  from_json: ({ text, json, as }) =>
    reading(() => (text === undefined ? readJson(json, as) : formOf(Codec.decodeAny(textOf(text))))),
  "validate.request": checked(Validate.request, forms.request.from),
  "validate.message": checked(Validate.message, forms.message.from),
  "validate.tool": checked(Validate.tool, (value) => value),
  "validate.thread": checked(Validate.thread, (value) =>
    isFields(value) || Array.isArray(value) ? forms.thread.from(value) : value
  ),
  "validate.session": checked(Validate.session, sessionParts),
  "error.new": ({ type, reason, fields }) =>
    valued(() => Plain.errorForm(Plain.typedError({ ...fieldsOf(fields), type, reason }))["$error"]),
  "error.reasons": ({ type }) => ({
    value: Object.entries(Plain.errorTypes).find(([name]) => name === type)?.[1].reasons
  })
}
