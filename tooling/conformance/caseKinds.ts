/** The kinds of cases that deviations speak of. */
import { fieldsOf, isFields, listOf, textOf } from "./chat/caseFile.ts"
import type { Difference } from "./chat/matching.ts"
import { hasForm, nameOf } from "./chat/serializing.ts"
import type { CaseFacts } from "./deviating.ts"

type Kind = (one: CaseFacts, difference: Difference, all: ReadonlyArray<Difference>) => boolean

export const calls =
  (...operations: ReadonlyArray<string>): Kind =>
  ({ operation }) =>
    operations.includes(operation)

const givenText = ({ given }: CaseFacts): string => JSON.stringify(given)

/** Cases that mention this in what is given. */
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

/** Cases with a policy of fewer parameters than two. */
export const shortPolicy: Kind = ({ given }) => {
  const { arity } = fieldsOf(fieldsOf(given["opts"])["on_tool_error"])
  return typeof arity === "number" && arity < 2
}

/** Cases with a type tag that names what we have no form of. */
export const unknownTag: Kind = ({ given }) => hasUnknownTag(given)

const hasUnknownTag = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(hasUnknownTag)
  if (!isFields(value)) return false
  const { __type__: tag } = value
  return (typeof tag === "string" && !hasForm(nameOf(tag))) || Object.values(value).some(hasUnknownTag)
}

const unpaired = /^failed with SessionError: The (call|result of) \S+ (of|in) the thread/

const operationIn = ({ path }: Difference): number => Number(/^after\.(\d+)\./.exec(path)?.[1] ?? Number.NaN)

/** What comes of an operation on a session that was refused because calls and results do not pair up. */
export const afterUnpaired: Kind = (_, difference, all) =>
  all.some(
    (one) => one.path.endsWith(".failure") && unpaired.test(one.message) && operationIn(one) <= operationIn(difference)
  )

/** Cases whose turn a tool or a person ends. */
export const halted: Kind = ({ expected }) => (expected["finishReason"] ?? expected["finish"]) === "error_halted"

/** Cases in which somebody is asked. */
export const asks: Kind = ({ given }) => given["ask"] !== undefined

/** Cases in which the answer throws. */
export const askRaises: Kind = ({ given }) => textOf(given["ask"]) === "raises"

/** Cases whose listener throws, or is slow. */
export const listens =
  (words: RegExp): Kind =>
  ({ given }) =>
    words.test(textOf(given["listener"]))

/** Cases that count questions as time of a call. */
export const timed: Kind = (one, difference, all) =>
  asks(one, difference, all) && fieldsOf(one.given["options"])["toolTimeoutMs"] !== undefined

/** Cases of a hook that is called when somebody is about to be asked. */
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

/** Differences in a parameter that every provider has. */
export const isParameter: Kind = (_, { path }) =>
  /^value\.(model|temperature|max_tokens|top_p|top_k|seed|stop|presence_penalty|frequency_penalty|tool_choice)$/.test(
    path
  )
