/** The kinds of cases that deviations refer to. */
import { fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"
import type { Difference } from "../runner/matching.ts"
import { hasForm, nameOf } from "../chat/values/serializing.ts"
import { same } from "../runner/deviating.ts"
import { type CaseFacts } from "../runner/suite.ts"

type Kind = (one: CaseFacts, difference: Difference, all: ReadonlyArray<Difference>) => boolean

export const calls =
  (...operations: ReadonlyArray<string>): Kind =>
  ({ operation }) =>
    operations.includes(operation)

const givenText = ({ given }: CaseFacts): string => JSON.stringify(given)

/** Cases that mention this in their `given`. */
export const gives =
  (words: RegExp): Kind =>
  (one) =>
    words.test(givenText(one))

export const both =
  (...kinds: ReadonlyArray<Kind>): Kind =>
  (one, difference, all) =>
    kinds.every((kind) => kind(one, difference, all))

export const not =
  (kind: Kind): Kind =>
  (one, difference, all) =>
    !kind(one, difference, all)

const scripts = (value: unknown): ReadonlyArray<unknown> => [value, ...listOf(value), ...listOf(value).flatMap(listOf)]

const fakes = ({ given }: CaseFacts): ReadonlyArray<unknown> => {
  const { engine, adapter_opts: options, engines, entries } = given
  return [engine, ...listOf(options), ...listOf(engines)]
    .map(fieldsOf)
    .flatMap(({ script, scripts: many, stream_script: streamed }) => [script, many, streamed].flatMap(scripts))
    .concat(scripts(entries))
}

/** Cases of a fake with a line of this kind in its script. */
export const scripted =
  (line: string): Kind =>
  (one) =>
    one.operation.startsWith("fake.") && fakes(one).some((entry) => isFields(entry) && line in entry)

/** Cases of a fake whose script has no line of this kind. */
export const unscripted =
  (line: string): Kind =>
  (one) =>
    one.operation.startsWith("fake.") && !fakes(one).some((entry) => isFields(entry) && line in entry)

/** Cases with a policy of less than two parameters. */
export const shortPolicy: Kind = ({ given }) => {
  const { arity } = fieldsOf(fieldsOf(given["opts"])["on_tool_error"])
  return typeof arity === "number" && arity < 2
}

/** Cases with a type tag for which we have no form. */
export const unknownTag: Kind = ({ given }) => hasUnknownTag(given)

const hasUnknownTag = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(hasUnknownTag)
  if (!isFields(value)) return false
  const { __type__: tag } = value
  return (typeof tag === "string" && !hasForm(nameOf(tag))) || Object.values(value).some(hasUnknownTag)
}

/** How an operation fails when calls and results of its thread do not match. */
export const unpaired =
  /^failed with SessionError: The (call \S+ of the thread has no result right after it|result of \S+ in the thread follows no message that makes this call, or is its second);/

const operationIn = ({ path }: Difference): number => Number(/^after\.(\d+)\./.exec(path)?.[1] ?? Number.NaN)

const refusals = (all: ReadonlyArray<Difference>): ReadonlyArray<number> =>
  all.filter(({ path, message }) => path.endsWith(".failure") && unpaired.test(message)).map(operationIn)

/** The differences in a session after an operation that was refused because calls and results do not match. */
export const afterUnpaired: Kind = (_, difference, all) =>
  refusals(all).some((refused) => refused <= operationIn(difference))

/** An operation on a session that was itself refused because calls and results do not match. */
export const isUnpaired: Kind = (_, difference, all) => refusals(all).includes(operationIn(difference))

/** Values in a session's error that are metadata of the applied result. */
export const fromMetadata: Kind = ({ given }, difference) => {
  const { result } = fieldsOf(listOf(given["ops"])[operationIn(difference)])
  const metadata = fieldsOf(fieldsOf(result)["metadata"])
  const name = difference.path.slice(difference.path.lastIndexOf(".") + 1)
  return Object.hasOwn(metadata, name) && same(metadata[name], difference.theirs)
}

/** Options that the case passes on to the provider unchanged. */
export const handedOn: Kind = ({ given }, { path, theirs }) => {
  const name = path.slice("value.".length)
  const params = fieldsOf(fieldsOf(given["engine"])["params"])
  return [fieldsOf(given["opts"]), params].some(
    (options) => Object.hasOwn(options, name) && same(options[name], theirs)
  )
}

/** Cases in which the joined argument deltas of some call are no JSON object. */
export const malformedArguments: Kind = ({ given }) =>
  [...argumentTexts(given, new Map()).values()].some((written) => !isFields(parsed(written)))

const argumentTexts = (value: unknown, texts: Map<unknown, string>): Map<unknown, string> => {
  if (Array.isArray(value)) for (const element of value) argumentTexts(element, texts)
  if (!isFields(value)) return texts
  const { id, arguments_delta: delta, raw_arguments: raw } = value
  if (typeof delta === "string") texts.set(id, (texts.get(id) ?? "") + delta)
  if (typeof raw === "string") texts.set(id, raw)
  for (const field of Object.values(value)) argumentTexts(field, texts)
  return texts
}

const parsed = (written: string): unknown => {
  try {
    return JSON.parse(written)
  } catch {
    return undefined
  }
}

/** Failures of the adapter that the script names. */
export const fromScript: Kind = ({ given }, { theirs }) => {
  const { reason, cause } = fieldsOf(theirs)
  return scriptedErrors(given).some((error) => error === reason || (reason === "unknown" && error === cause))
}

const scriptedErrors = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value.flatMap(scriptedErrors)
  if (!isFields(value)) return []
  const { error, preflight_error: refusal } = value
  return [error, listOf(refusal)[0], ...Object.values(value).flatMap(scriptedErrors)].filter(
    (found) => typeof found === "string"
  )
}

/** Messages that the case builds from the type and the reason of an error. */
export const defaultMessage: Kind = ({ given }, { theirs }) => {
  const { type, reason, fields } = given
  const kind = textOf(type)
    .replace(/Error$/, "")
    .toLowerCase()
  const { errors } = fieldsOf(fields)
  const count = type === "ValidationError" ? ` (${listOf(errors).length} error(s))` : ""
  return [`${kind} error: ${textOf(reason)}`, `${kind} failed: ${textOf(reason)}${count}`].includes(textOf(theirs))
}

/** Notes that a finalizer of the case leaves. */
export const notesAfter: Kind = ({ given }, { message }) => {
  const [, note] = /^is \["[^"]+","note",(.*)\], not missing$/.exec(message) ?? []
  return note !== undefined && finalizersOf(given).includes(note)
}

const finalizersOf = (value: unknown): ReadonlyArray<string> => {
  if (isFields(value)) return Object.values(value).flatMap(finalizersOf)
  if (!Array.isArray(value)) return []
  const [verb, , after] = value as ReadonlyArray<unknown>
  const notes = verb === "try_after" ? listOf(after).map(listOf) : []
  return [
    ...notes.filter(([step]) => step === "note").map(([, noted]) => JSON.stringify(noted)),
    ...value.flatMap(finalizersOf)
  ]
}

/** Cases whose turn a tool or a person halts. */
export const halted: Kind = ({ expected }) => (expected["finishReason"] ?? expected["finish"]) === "error_halted"

/** Cases with a question. */
export const asks: Kind = ({ given }) => given["ask"] !== undefined

/** Cases in which the answer throws. */
export const askRaises: Kind = ({ given }) => textOf(given["ask"]) === "raises"

/** Cases whose listener throws, or is slow. */
export const listens =
  (words: RegExp): Kind =>
  ({ given }) =>
    words.test(textOf(given["listener"]))

/** Cases that count the time of questions as time of a call. */
export const timed: Kind = (one, difference, all) =>
  asks(one, difference, all) && fieldsOf(one.given["options"])["toolTimeoutMs"] !== undefined

/** Calls that differ only because the case counts the time until an answer, which exceeds the call's timeout. */
export const answeredLate: Kind = ({ given }, { ours, theirs }) => {
  const { toolTimeoutMs } = fieldsOf(given["options"])
  const answers = fieldsOf(given["ask"])
  const late = (id: unknown): boolean => {
    const [, ms] = / after (\d+) ms$/.exec(textOf(answers[textOf(id)])) ?? []
    return Number(ms) > Number(toolTimeoutMs)
  }
  const [own, other] = [listOf(ours), listOf(theirs)]
  return [...own.filter((id) => !other.includes(id)), ...other.filter((id) => !own.includes(id))].every(late)
}

/** A crashed call, whereas the case has a sibling that was killed with it. */
export const onlyTheCrashed: Kind = ({ given }, { ours, theirs }) => {
  const made = listOf(given["calls"] ?? given["runBatch"]).map(fieldsOf)
  const crashes = (id: unknown): boolean => made.some((call) => call["id"] === id && call["crash"] !== undefined)
  return crashes(ours) && !crashes(theirs)
}

/** Cases with a hook that is called before a question. */
export const hooksQuestions: Kind = ({ given }) => "PermissionRequest" in fieldsOf(given["hooks"])

/** Cases in which a read fails. */
export const failsReading: Kind = ({ given }) =>
  listOf(given["tools"])
    .map(fieldsOf)
    .some(({ parallelSafe, error }) => parallelSafe === true && error !== undefined)

/** Cases in which calls share an id. */
export const sharesIds: Kind = ({ given }) => {
  const [turn] = listOf(given["model"])
  const ids = listOf(given["calls"] ?? given["runBatch"] ?? fieldsOf(turn)["calls"]).map((call) => fieldsOf(call)["id"])
  return new Set(ids).size < ids.length
}

/** Cases in which a read that crashes ends its caller. */
export const expectsDeath: Kind = ({ expected }) =>
  expected["kind"] === "caller-process-killed" || expected["outcome"] === "the process that called run dies"

/** Differences in a parameter that all providers share. */
export const isParameter: Kind = (_, { path }) =>
  /^value\.(model|temperature|max_tokens|top_p|top_k|seed|stop|presence_penalty|frequency_penalty|tool_choice)$/.test(
    path
  )
