/**
 * Encodes and decodes every value of this package as JSON (serialization).
 *
 * **Details**: the form is `{ "type": "Message", "version": 2, "data": … }`. Inside `data` values are as they are in
 * memory. A value that JSON cannot represent is an object of one key: `$bigint`, `$bytes`, `$date`, `$number`,
 * `$undefined`, `$error`, `$result`. A user's object that looks like one of these is quoted as `$object`.
 *
 * CODEC1. An encoded value decodes to an equal value: every field, including unknown fields; the class, reason and
 *   fields of every error, wherever it is; every outcome as an outcome.
 * CODEC2. A value is encoded whole, or rejected with an `unencodable` error that names each path. An error inside the
 *   value is always encodable: a part of its `cause` or `metadata` that has no JSON form is described in its place.
 * CODEC3. A decoded value fits its type; otherwise it is rejected with an `undecodable` error that names each path. An
 *   unknown type or enumerated word is rejected, and so is a version after the present one.
 *
 * @module
 */
import { isPlainMessage } from "../model/index.ts"
import { findingsOf, isRecord, ValidationError, type ValidationErrorReason } from "../errors/index.ts"
import { type Attachments, rows, type TypeName, type Types } from "./codecTable.ts"
import { type Json, read, type Tag, write } from "../values/index.ts"

/** The names of all types that have a JSON form. */
export const types: ReadonlyArray<TypeName> = Object.freeze(Object.keys(rows) as Array<TypeName>)

/** The version of the form. A decoder reads this version and those before it, and rejects a later one. */
const version = 2

/** A decoded value with its type. */
type Decoded = { readonly [Name in TypeName]: { readonly type: Name; readonly value: Types[Name] } }[TypeName]

/** How values without a JSON form are encoded. */
interface EncodeOptions {
  /**
   * What happens to an inner value that has no JSON form. `"refuse"` rejects the whole value; `"describe"` replaces the inner
   * value by a word in brackets, for display only. Default: `"refuse"`.
   */
  readonly unencodable?: "refuse" | "describe" | undefined
}

/**
 * Encodes a value as JSON text.
 *
 * **Details**: a tool is encoded without its handler, an engine without adapter, executor and encoder. An error of
 * another package keeps its name, message, cause and aggregated errors. It decodes as the JavaScript error class of
 * that name, or as an `Error` with that name. Stacks are not encoded. A `Buffer` decodes as its bytes.
 *
 * **Errors**: throws a `ValidationError` (`unencodable`) that names each part that has no JSON form or does not fit the
 * type.
 *
 * @example
 * ```ts import.meta.vitest
 * import { user } from "@troupe/chat"
 * import { Thread } from "@troupe/chat/messages"
 * import { Codec } from "@troupe/chat/store"
 *
 * const thread = Thread.append(Thread.empty, user("Hello"))
 * const text = Codec.encode("Thread", thread)
 *
 * text // => '{"type":"Thread","version":2,"data":{"messages":[{"role":"user","content":"Hello"}]}}'
 * Codec.decode("Thread", text) // => thread
 * ```
 */
export const encode = <Name extends TypeName>(type: Name, value: Types[Name], options?: EncodeOptions): string =>
  JSON.stringify(toJson(type, value, options))

/** Like {@link encode}, but returns the JSON value instead of its text. */
export const toJson = <Name extends TypeName>(
  type: Name,
  value: Types[Name],
  options: EncodeOptions = {}
): { readonly type: TypeName; readonly version: typeof version; readonly data: Json } => {
  if (!isTypeName(type)) throw refused("unencodable", ["type"], "unknown")
  checkOptions(options, encodeOptions)
  const { tag, schema, shed } = rows[type]
  const { json, found } = guarded(() => {
    const shown = shed(value)
    const { error } = schema.safeParse(shown)
    return error === undefined
      ? write(shown, options.unencodable === "describe")
      : { json: null, found: findingsOf(error, []) }
  })
  if (found.length > 0) throw new ValidationError("unencodable", found)
  return { type, version, data: tag === undefined ? json : inside(json, tag) }
}

const inside = (json: Json, tag: Tag): Json => {
  if (typeof json === "object" && json !== null && tag in json) return Reflect.get(json, tag)
  throw refused("unencodable", [], "unreadable")
}

/**
 * Decodes a JSON text of {@link encode}.
 *
 * **Details**: `type` is the expected type; text of another type is rejected. Data without the surrounding type and
 * version is decoded as data of that type.
 *
 * **Errors**: throws a `ValidationError` (`undecodable`). Its findings name paths of the JSON value: `json` is
 * `malformed`; `type` or `version` is `missing`, `unknown` or `unexpected`; `data` is `missing`; an unknown enumerated
 * word is an `unknown_value`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake, tool } from "@troupe/chat"
 * import { Codec } from "@troupe/chat/store"
 *
 * const now = tool({ name: "now", execute: () => "12:00" })
 * const text = Codec.encode("Engine", Engine.make({ adapter: Fake.make({ script: [] }), tools: [now] }))
 *
 * Codec.decode("Engine", text).tools[0]?.handler // => null
 * Codec.decode("Engine", text, { tools: [now] }).tools[0] // => now
 * ```
 */
export const decode = <Name extends TypeName>(type: Name, text: string, options?: Attachments): Types[Name] => {
  const json = parsed(text)
  // Without a tag the JSON is the value (CODEC1), and plain messages fit the schema (PLAINMSG1).
  if (type === "Thread" && !text.includes('"$') && isPlainThread(json)) return json as Types[Name]
  return fromJson(type, json, options)
}

const isPlainThread = (json: unknown): boolean =>
  isRecord(json) &&
  json["compaction"] === undefined &&
  Array.isArray(json["messages"]) &&
  json["messages"].every(isPlainMessage)

/** Like {@link decode}, from the JSON value instead of its text. */
export const fromJson = <Name extends TypeName>(type: Name, json: unknown, options: Attachments = {}): Types[Name] => {
  if (!isTypeName(type)) throw refused("undecodable", ["type"], "unknown")
  if (!isWrapped(json)) return valueOf(type, json, [], options)
  if (typeOf(json) !== type) throw refused("undecodable", ["type"], "unexpected")
  return valueOf(type, dataOf(json), ["data"], options)
}

/** Decodes a JSON text of {@link encode} of any type. **Errors**: as {@link decode}. */
export const decodeAny = (text: string, options?: Attachments): Decoded => fromJsonAny(parsed(text), options)

/** The value of any type in a JSON value. */
const fromJsonAny = (json: unknown, options: Attachments = {}): Decoded => {
  if (!isWrapped(json)) throw refused("undecodable", ["type"], "missing")
  const type = typeOf(json)
  return { type, value: valueOf(type, dataOf(json), ["data"], options) } as Decoded
}

/** Codec types have PascalCase names; the `type` of an event or a content part is in snake_case. */
const isWrapped = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === "object" &&
  json !== null &&
  "type" in json &&
  typeof json.type === "string" &&
  /^[A-Z]/.test(json.type)

const isTypeName = (type: unknown): type is TypeName => typeof type === "string" && Object.hasOwn(rows, type)

const typeOf = ({ type }: Readonly<Record<string, unknown>>): TypeName => {
  if (!isTypeName(type)) throw refused("undecodable", ["type"], "unknown")
  return type
}

const dataOf = (json: Readonly<Record<string, unknown>>): unknown => {
  if (json["version"] === undefined) throw refused("undecodable", ["version"], "missing")
  if (json["version"] !== 1 && json["version"] !== version) throw refused("undecodable", ["version"], "unknown")
  if (!("data" in json)) throw refused("undecodable", ["data"], "missing")
  return json["data"]
}

const valueOf = <Name extends TypeName>(
  type: Name,
  data: unknown,
  path: ReadonlyArray<string>,
  options: Attachments
): Types[Name] => {
  checkOptions(options, decodeOptions)
  const { tag, schema, restore } = rows[type]
  const { value, found } = read(data, path, tag)
  if (found.length > 0) throw new ValidationError("undecodable", found)
  const { error } = schema.safeParse(value)
  if (error !== undefined) throw new ValidationError("undecodable", findingsOf(error, path))
  return restore(value, options) as Types[Name]
}

const encodeOptions: ReadonlyArray<string> = ["unencodable"] satisfies ReadonlyArray<keyof EncodeOptions>

const decodeOptions: ReadonlyArray<string> = [
  "tools",
  "adapter",
  "prices",
  "toolExecutor",
  "toolResultEncoder",
  "fallbacks"
] satisfies ReadonlyArray<keyof Attachments>

const checkOptions = (options: object, names: ReadonlyArray<string>): void => {
  const unknown = Object.keys(options).find((name) => !names.includes(name))
  if (unknown !== undefined) throw refused("invalid_options", [unknown], "unknown_option")
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ValidationError("undecodable", [{ field: ["json"], reason: "malformed" }], { cause })
  }
}

const refused = (reason: ValidationErrorReason, field: ReadonlyArray<string>, why: string): ValidationError =>
  new ValidationError(reason, [{ field, reason: why }])

/** Reads a value of the caller, whose accessors may throw. */
const guarded = <A>(look: () => A): A => {
  try {
    return look()
  } catch (cause) {
    throw new ValidationError("unencodable", [{ field: [], reason: "unreadable" }], { cause })
  }
}
