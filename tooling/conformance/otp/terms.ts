/**
 * Converts between the values of a case file and ours.
 *
 * Case files name processes and references by their labels, and write everything else as Erlang terms: a tuple is an array.
 * Tuples for which we have a type of our own are converted here, both ways.
 *
 * @module
 */
import { isDeepStrictEqual } from "node:util"
import { ExitReason, OtpError, SystemMessage, Task } from "@troupe/otp"
import type { Name, Pid, Registry } from "@troupe/otp"
import { isList, isObject, type Json, type JsonObject, tablesIn, text } from "../runner/json.ts"

/** An exception raised by a step. */
export class RuntimeError extends Error {
  override readonly name = "RuntimeError"
}

/** A bad argument of a built-in. */
export class ArgumentError extends Error {
  override readonly name = "ArgumentError"
}

/** The names of a run of a case. */
interface Names {
  pid(name: string): Pid
  ref(name: string): unknown
  encode(value: unknown): Json
  labelOf(value: object): string | undefined
  refName(value: object): string | undefined
}

/** Converts a case file's value to ours; `$state` is the state of the current server. */
export const decode = (names: Names, value: Json | undefined, state?: Json): unknown => {
  if (value === "$state" && state !== undefined) return state
  if (isList(value)) return value.map((item) => decode(names, item, state))
  if (!isObject(value)) return value
  if (value["pid"] !== undefined) return names.pid(text(value["pid"]))
  return value["ref"] === undefined ? value : names.ref(text(value["ref"]))
}

/** Converts a case file's exit reason to ours. */
export const decodeReason = (names: Names, value: Json | undefined): ExitReason.ExitReason => {
  const decoded = decode(names, value)
  const isShutdown = Array.isArray(decoded) && decoded.length === 2 && decoded[0] === "shutdown"
  return isShutdown ? ExitReason.shutdown(decoded[1]) : decoded
}

/** The names of calls that differ from Elixir's, and Elixir's reasons of refusals. */
const { places, refusals } = tablesIn("words.json", import.meta.url) as Readonly<
  Record<"places" | "refusals", JsonObject>
>

/** The refusal of a request to a supervisor; as an exit reason, that of a start with a bad spec. */
export const refusal = (names: Names, { reason, id, pid }: OtpError.ChildRefused): Json => {
  if (reason === "alreadyStarted") return ["already_started", names.encode(pid)]
  return reason === "duplicateId" ? ["duplicate_child_name", id] : (refusals[reason] ?? reason)
}

const encodeError = (names: Names, error: Error): Json => {
  if (error instanceof RuntimeError) return { error: error.name, message: error.message }
  if (error instanceof OtpError.CallExit) return [names.encode(error.reason), { in: places[error.in] ?? error.in }]
  if (error instanceof OtpError.BadReturnValue) return ["bad_return_value", names.encode(error.value)]
  if (error instanceof OtpError.AlreadyStarted) return ["already_started", names.encode(error.pid)]
  if (error instanceof OtpError.FailedToStartChild) {
    return ["failed_to_start_child", error.id, names.encode(error.reason)]
  }
  if (error instanceof OtpError.ChildRefused) return ["start_spec", refusal(names, error)]
  if (error instanceof OtpError.NoProcess) return { error: "noproc" }
  const badArguments = [OtpError.NotTheOwner, OtpError.UnknownName, OtpError.NameTaken, ArgumentError]
  return { error: badArguments.some((kind) => error instanceof kind) ? "ArgumentError" : error.name }
}

const isAddress = (target: Pid | Name): target is Name => "whereis" in target

const isTimeout = (value: object): value is { readonly ref: unknown; readonly message: unknown } =>
  "_tag" in value && value._tag === "Timeout"

const isChange = (value: object): value is Registry.Change => "_tag" in value && "registry" in value

const encodeObject = (names: Names, value: object): Json => {
  if (SystemMessage.isExit(value)) return ["EXIT", names.encode(value.from), names.encode(value.reason)]
  if (SystemMessage.isDown(value)) {
    const watched: Json = isAddress(value.pid) ? [value.pid.name, "nonode@nohost"] : names.encode(value.pid)
    return ["DOWN", names.encode(value.ref), "process", watched, names.encode(value.reason)]
  }
  if (Task.isReply(value)) return [names.encode(value.ref), names.encode(value.value)]
  if (ExitReason.isShutdown(value)) return ["shutdown", names.encode(value.value)]
  if (ExitReason.isNoCatch(value)) return { nocatch: names.encode(value.value) }
  if (isChange(value)) {
    const { _tag, registry, key, pid, value: registered } = value
    const entry = [_tag.toLowerCase(), names.labelOf(registry) ?? "?", ...[key, pid].map((part) => names.encode(part))]
    return _tag === "Register" ? [...entry, names.encode(registered)] : entry
  }
  if (isTimeout(value)) return ["timeout", names.encode(value.ref), names.encode(value.message)]
  if (value instanceof Error) return encodeError(names, value)
  if (Array.isArray(value)) return value.map((item: unknown) => names.encode(item))
  return value as JsonObject
}

/** Converts our value to the case file's form. */
export const encode = (names: Names, value: unknown): Json => {
  if (value === undefined) return "undefined"
  if (typeof value !== "object" || value === null) return value as Json
  const label = names.labelOf(value)
  if (label !== undefined) return { pid: label }
  const ref = names.refName(value)
  return ref === undefined ? encodeObject(names, value) : { ref }
}

/** Whether a message in the case file's form matches a pattern: `_` matches anything. */
export const fits = (pattern: Json | undefined, message: Json): boolean => {
  if (pattern === "_") return true
  if (!isList(pattern) || !isList(message)) return isDeepStrictEqual(pattern, message)
  return pattern.length === message.length && message.every((item, index) => fits(pattern[index], item))
}
