/**
 * Where our behaviour differs from a case on purpose, and by which decision.
 *
 * A deviating case must still run, and differ in nothing but what its decision explains; a case that passes is counted as
 * passed. Rules speak of what differs, not of single cases, so that they hold for cases nobody has written yet.
 *
 * @module
 */
import { type Case, type Fields, fieldsOf, isFields, listOf } from "./caseFile.ts"
import type { Difference } from "./matching.ts"
import { hasForm, nameOf } from "./serializing.ts"

/** One decision, and what of a case it explains. */
interface Deviation {
  /** The decision's id, or where else it is laid down. */
  readonly decision: string
  readonly because: string
  readonly explains: (difference: Difference, one: Case, all: ReadonlyArray<Difference>) => boolean
}

const scripts = (value: unknown): ReadonlyArray<unknown> => [value, ...listOf(value), ...listOf(value).flatMap(listOf)]

const fakes = ({ given }: Case): ReadonlyArray<unknown> => {
  const { engine, adapter_opts: options, engines, entries } = given
  return [engine, ...listOf(options), ...listOf(engines)]
    .map(fieldsOf)
    .flatMap(({ script, scripts: many, stream_script: streamed }) => [script, many, streamed].flatMap(scripts))
    .concat(scripts(entries))
}

/** Whether a line of this kind stands in one of a case's scripts. */
const hasLine = (one: Case, kind: string): boolean => fakes(one).some((line) => isFields(line) && kind in line)

const newlyReserved = ["error", "manual_tool_calls"]

/** The reasons reserved by us alone that a handler of the case halts with. */
const haltsWith = (given: Fields): ReadonlyArray<string> =>
  newlyReserved.filter((reason) => JSON.stringify(given).includes(`"halt":["${reason}"`))

const expectsHalt = (then: Fields, reason: string): boolean =>
  new RegExp(`"(halted_reason|reason)":"${reason}"`).test(JSON.stringify(then))

/** The operation of a session a path speaks of. */
const operationIn = ({ path }: Difference): number => Number(/^after\.(\d+)\./.exec(path)?.[1] ?? Number.NaN)

const isUnpaired = ({ path, message }: Difference): boolean =>
  path.endsWith(".failure") && /SessionError: The (call|result of) \S+ (of|in) the thread/.test(message)
/** Whether a type tag names what we have no form of. */
const hasUnknownTag = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(hasUnknownTag)
  if (!isFields(value)) return false
  const { __type__: tag } = value
  return (typeof tag === "string" && !hasForm(nameOf(tag))) || Object.values(value).some(hasUnknownTag)
}

const deviations: ReadonlyArray<Deviation> = [
  {
    decision: "D10",
    because: "a turn that was left is cancelled, and what was said is kept",
    explains: ({ path, message }) =>
      path.endsWith(".session.status") && message === '"cancelled" instead of "completed"'
  },
  {
    decision: "D19",
    because: "a session sends no thread in which calls and results do not pair up",
    explains: (difference, { when }, all) =>
      when === "session" && all.some((one) => isUnpaired(one) && operationIn(one) <= operationIn(difference))
  },
  {
    decision: "D25",
    because: "a session in error has an error, never a map of what is known beside it",
    explains: ({ path, message }, { when }) =>
      when === "session" &&
      /\.session\.metadata\.error\./.test(path) &&
      (path.endsWith(".$error") ? message.endsWith("instead of nothing") : message.startsWith("nothing instead of"))
  },
  {
    decision: "D7",
    because: "without tool calls to run a step is done, whatever its finish reason, or none",
    explains: ({ path, message }, { when, given }) =>
      when === "collect" &&
      path.endsWith(".done") &&
      message === "true instead of false" &&
      !/"finish_reason":"(tool_calls|stop|length|content_filter|error)"/.test(JSON.stringify(given))
  },
  {
    decision: "D18",
    because: "a tool call can also fail because of its arguments, a gate or a cancel",
    explains: (_, { when, given }) => when === "error.reasons" && given["type"] === "ToolError"
  },
  {
    decision: "D11",
    because: "`error`, `manual_tool_calls` and an empty reason are reserved halt reasons too",
    explains: ({ path }, { when, given, then }) =>
      when === "reserved_halt_reasons" ||
      (!/^(calls|requests|runner)/.test(path) && haltsWith(given).some((reason) => expectsHalt(then, reason)))
  },
  {
    decision: "D14",
    because: "arguments that are not a JSON object are `null`, never `{}`",
    explains: ({ path, message }) => path.endsWith("arguments") && message.startsWith("null instead of {")
  },
  {
    decision: "D17",
    because: "what is retried is named by the reasons of errors, and a connection that fails is among them",
    explains: ({ path }, { when }) =>
      (when === "retry.materialize" || when === "retry.default_policy") && path.startsWith("value.retry_on")
  },
  {
    decision: "D21",
    because: "a second pass that is refused leaves the first one's result, in the collected form too",
    explains: ({ path, message }, { given }) =>
      fieldsOf(given["opts"])["structured_finalize"] === true && path === "error" && message === "the call did not fail"
  },
  {
    decision: "D27",
    because: "unknown options are refused; parameters of the provider have a bag of their own",
    explains: ({ message }, { when }) => when === "engine.resolve_params" && message.startsWith("nothing instead of")
  },
  {
    decision: "D29",
    because: "what cannot be read is refused: an unknown type is not handed on as if it had been read",
    explains: ({ path }, { when, given }) => when === "from_json" && path === "failure" && hasUnknownTag(given)
  },
  {
    decision: "D29",
    because: "a tool is written without its handler, which is given back by name",
    explains: ({ path }, { given }) => path === "raises" && /"\$type":"Tool".*"handler":/.test(JSON.stringify(given))
  },
  {
    decision: "D36",
    because: "a script means the same however it is read: no finish is no finish, an error is part of the response",
    explains: ({ path }, one) =>
      one.when.startsWith("fake.") &&
      (/finish_reason$|empty_script$/.test(path)
        ? !hasLine(one, "finish")
        : hasLine(one, "error") && (path === "error" || /calls\.\d+\.error$/.test(path)))
  },
  {
    decision: "D15",
    because: "usage that is none is no fault of whoever reads the stream: the fold is total",
    explains: ({ path }, { when, given }) =>
      when === "collect" && path === "raises" && JSON.stringify(given).includes("$usage")
  },
  {
    decision: "house: errors",
    because: "a message says what to do next, in words of its own",
    explains: ({ path }, { when }) => when === "error.new" && path === "value.message"
  },
  {
    decision: "house: names",
    because: "a function of fewer parameters is a policy too: in JavaScript it leaves out what it does not read",
    explains: ({ path }, { given }) => {
      const { arity } = fieldsOf(fieldsOf(given["opts"])["on_tool_error"])
      return path === "raises" && typeof arity === "number" && arity < 2
    }
  },
  {
    decision: "FORMAT 6",
    because: "content parts are plain tagged objects: one with the fields of a part is a part",
    explains: ({ path }, { when, given }) =>
      when === "validate.message" &&
      path === "error" &&
      listOf(fieldsOf(given["value"])["content"]).some((part) => fieldsOf(part)["type"] === "text")
  }
]

/** Why a case differs, when decisions explain each of its differences. */
export const deviationOf = (one: Case, found: ReadonlyArray<Difference>): string | undefined => {
  const reasons = found.map((difference) => deviations.find(({ explains }) => explains(difference, one, found)))
  if (reasons.includes(undefined)) return undefined
  return [...new Set(reasons.map((reason) => `${reason?.decision}: ${reason?.because}`))].join("; ")
}
