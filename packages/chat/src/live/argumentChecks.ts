/**
 * The checks of the ids and the arguments of a Troupe and of its chats, which need no chat. Each throws a `ValidationError`.
 *
 * OPT2. Each verb of a chat checks its arguments: an unknown option is refused with the option that it resembles (OPT1), and so is a
 *       value of a wrong type.
 */
import { checkedMode } from "../gate/index.ts"
import {
  type Decision,
  isEndInput,
  type Mode,
  type SendOptions,
  type UserInput,
  userMessage,
  type WhenBusy,
  withContent,
  isChildId
} from "../record/index.ts"
import type { Answers } from "../inbox/index.ts"
import { checkedDecision } from "../step/index.ts"
import { isSchema } from "../tool/index.ts"
import { type AttachOptions, checkAttach } from "../view/index.ts"
import type { UserMessage } from "../model/index.ts"
import { isRecord, unknownOption, ValidationError } from "../errors/index.ts"
export const refusedArgument = (field: ReadonlyArray<string>, reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field, reason }])

/** The agent that the caller gives. Throws a `ValidationError` for options that are not valid. */
export const askedAgent = (options: { readonly agent?: string | undefined }): string | undefined => {
  const { agent } = options
  if (agent !== undefined && typeof agent !== "string")
    throw refusedArgument(["agent"], "must_be_a_string, the name of an agent")
  return agent
}

/** Throws a `ValidationError` for an invalid id. */
export const checkId = (id: unknown): void => {
  if (typeof id !== "string" || id === "") throw refusedArgument(["id"], "must_be_a_non_empty_string")
}

/** Throws a `ValidationError` for an invalid id, and for that of a sub-agent's conversation, which only its call may use. */
export const checkOwnId = (id: string): void => {
  checkId(id)
  if (isChildId(id))
    throw refusedArgument(
      ["id"],
      "must_not_contain /~/: that is a conversation of a sub-agent, which only its call uses"
    )
  if (id.endsWith("/~"))
    throw refusedArgument(["id"], "must_not_end_with /~: its sub-agents would have the ids of those of another chat")
}

/** Throws a `ValidationError` for options that are no object, and for unknown names. */
export const checkNames = (options: unknown, names: ReadonlyArray<string>): void => {
  if (options === undefined) return
  if (!isRecord(options)) throw refusedArgument([], "must_be_an_object of options")
  const found = Object.keys(options).filter((name) => !names.includes(name))
  if (found.length === 0) return
  throw new ValidationError(
    "invalid_options",
    found.map((name) => ({ field: [name], reason: unknownOption(name, names, `use ${names.join(", ")}`) }))
  )
}

const ways: ReadonlyArray<WhenBusy> = ["queue", "steer", "interrupt", "reject"]

/** The options of `send` of a chat anywhere. */
const askNames = ["whenBusy", "id", "model", "schema"]

/** The options of `send`: those of an input, and a schema. */
interface Ask extends SendOptions {
  readonly schema?: unknown
}

interface Bound {
  readonly within?: Mode | "host" | undefined
}

/** The options of `send`. */
const ask = <Options extends Ask>(options: Options, names = askNames): Options => {
  const given: unknown = options
  if (!isRecord(given)) throw refusedArgument([], "must_be_an_object of options")
  const { whenBusy, id, model, schema } = options
  const found = Object.keys(options)
    .filter((field) => !names.includes(field))
    .map((field) => ({ field: [field], reason: unknownOption(field, names, `use ${names.join(", ")}`) }))
  if (whenBusy !== undefined && !ways.includes(whenBusy)) {
    found.push({ field: ["whenBusy"], reason: `must_be_one_of ${ways.join(", ")}` })
  }
  if (id !== undefined && (typeof id !== "string" || id === "")) {
    found.push({ field: ["id"], reason: "must_be_a_non_empty_string" })
  } else if (id?.isWellFormed() === false) {
    found.push({ field: ["id"], reason: "must_be_a_text without half surrogate pairs" })
  }
  if (typeof id === "string" && isEndInput(id)) {
    found.push({ field: ["id"], reason: "must_not_begin_with task/: that is the end of a background task" })
  }
  if (model !== undefined && (typeof model !== "string" || model === "")) {
    found.push({ field: ["model"], reason: "must_be_a_non_empty_string, the name of a model" })
  }
  if (schema !== undefined && !isSchema(schema)) {
    found.push({ field: ["schema"], reason: "must_be a zod schema, any Standard Schema, or a JSON Schema object" })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  return options
}

/** The mode of `setPermissionMode`, and the loosest that it may be. */
const mode = (given: Mode, options: Bound = {}): { readonly mode: Mode } & Bound => {
  checkNames(options, ["within"])
  const { within } = options
  return {
    within: within === undefined || within === "host" ? within : checkedMode(within),
    mode: checkedMode(given)
  }
}

interface Answering extends Ask {
  readonly renew?: boolean | undefined
  readonly attempt?: number | undefined
  readonly options?: unknown
  readonly input?: unknown
}

/** The options of a verb that answers, or that begins a turn without an input. */
const answering = <Options extends Answering>(options: Options | undefined, names = ["id"]): Partial<Options> => {
  checkNames(options, names)
  const given: Partial<Options> = options ?? {}
  const { renew, attempt } = given
  if (attempt !== undefined && !(Number.isSafeInteger(attempt) && attempt > 0))
    throw refusedArgument(["attempt"], "must_be_a_positive_integer")
  if (renew !== undefined && typeof renew !== "boolean") throw refusedArgument(["renew"], "must_be_true_or_false")
  return ask(given, names)
}

const results = (given: unknown, field: ReadonlyArray<string> = []): void => {
  if (!isRecord(given)) throw refusedArgument(field, "must_be_an_object of results by the id of their call")
}

/** Answers, with the checks that need no chat. */
interface CheckedAnswers {
  readonly decisions: ReadonlyArray<{ readonly toolCallId: string; readonly decision: Decision }>
  readonly results: Readonly<Record<string, unknown>>
  readonly input: UserMessage | undefined
}

/** Reads what a person answers, without the state of the calls. */
const answers = (given: Answers): CheckedAnswers => {
  const all: unknown = given
  if (!isRecord(all)) throw refusedArgument([], "must_be_an_object of answers, such as { decisions, results, input }")
  checkNames(given, ["decisions", "results", "input"])
  const { decisions = {}, results: submitted = {}, input } = given
  if (!isRecord(decisions))
    throw refusedArgument(["decisions"], "must_be_an_object of decisions by the id of their call")
  results(submitted, ["results"])
  return {
    decisions: Object.entries(decisions).map(([toolCallId, decision]) => ({
      toolCallId,
      decision: checkedDecision(decision, toolCallId, undefined)
    })),
    results: submitted,
    input: input === undefined ? undefined : withContent(userMessage(input))
  }
}

/** The id of a turn, which is that of its input. */
const turnId = (field: string, given: unknown): string => {
  const id = isRecord(given) ? given["id"] : given
  if (typeof id === "string" && id !== "") return id
  throw refusedArgument([field], "must_be_a_turn, or the id of its input")
}

export const argumentChecks = {
  ask,
  mode,
  answering,
  answers,
  results,
  /** The options of `attach` of a chat of a cluster. */
  attach: (options: AttachOptions): void => checkAttach(options),
  id: checkId,
  names: checkNames,
  /** The id and the options of `chat`. */
  chat: (id: string, options: { readonly agent?: string | undefined }): void => {
    checkOwnId(id)
    checkNames(options, ["agent"])
    askedAgent(options)
  },
  /** The input of `send`, as a message. */
  message: (input: UserInput): UserMessage => withContent(userMessage(input)),
  /** The options of `cancel`, with the id of the turn if it names one. */
  cancel: (
    options: { readonly turn?: unknown; readonly tasks?: unknown } | undefined
  ): { readonly turn: string | undefined; readonly tasks: boolean } => {
    checkNames(options, ["turn", "tasks"])
    const { turn, tasks = false } = options ?? {}
    if (typeof tasks !== "boolean") throw refusedArgument(["tasks"], "must_be_true_or_false")
    return { turn: turn === undefined ? undefined : turnId("turn", turn), tasks }
  },
  /** Whether the turn of `cancel` is one that its caller has, and that is over. */
  isOver: (given: unknown): boolean => isRecord(given) && given["over"] === true,
  /** The id of the input of `withdraw`. */
  input: (input: unknown): string => turnId("input", input),
  /** The id of a call; a missing one would select all calls. */
  toolCallId: (toolCallId: unknown): string => {
    if (typeof toolCallId === "string" && toolCallId !== "") return toolCallId
    throw refusedArgument(["toolCallId"], "must_be_a_non_empty_string")
  },
  /** The id of a background task. */
  task: (task: unknown): string => {
    if (typeof task === "string" && task !== "") return task
    throw refusedArgument(["task"], "must_be_a_non_empty_string, the id of a background task")
  },
  /** The agent of `handoff`. */
  agent: (agent: unknown): void => {
    if (typeof agent !== "string") throw refusedArgument(["agent"], "must_be_a_string, the name of an agent")
  }
} as const
