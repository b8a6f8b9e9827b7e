/** Reads the options of a Troupe: what is its own of them, what is its engine's, and what is its chats'. */
import { type Finding, ValidationError } from "../errors/ChatError.ts"
import type { ChatOptions } from "../options/ChatOptions.ts"
import { EngineOptions } from "../options/Engine.ts"
import type { TroupeOptions } from "./Troupe.ts"
import { unknownOption } from "../errors/unknownKeys.ts"
import { chatOptionNames, positive, providerAdvice } from "../options/optionChecks.ts"

const hasFunctions = (value: unknown, ...names: ReadonlyArray<string>): boolean =>
  typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "function")

/** What an option has to be, where it is given. */
interface Demand {
  readonly reason: string
  readonly holds: (value: unknown) => boolean
}

const positiveNumber: Demand = {
  reason: "must be a number more than 0",
  holds: (value) => typeof value === "number" && value > 0
}

const countOrInfinity: Demand = {
  reason: "must be a whole number, 0 or more, or Infinity",
  holds: (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0)
}

/** The options that are the Troupe's own. */
const ownOptions = {
  store: {
    reason: "must have load, save and delete",
    holds: (value) => hasFunctions(value, "load", "save", "delete")
  },
  system: { reason: "must come from System.make", holds: (value) => hasFunctions(value, "make") },
  name: { reason: "must be a text that is not empty", holds: (value) => typeof value === "string" && value !== "" },
  maxRestarts: {
    reason: "must be a whole number, 0 or more",
    holds: (value) => Number.isInteger(value) && Number(value) >= 0
  },
  maxSeconds: positiveNumber,
  onCrash: { reason: "must be a function", holds: (value) => typeof value === "function" },
  suspendedTtlMs: positiveNumber,
  passivateAfterMs: positiveNumber,
  draftEveryMs: positiveNumber,
  maxWaitingInputs: countOrInfinity,
  maxWaitingBytes: countOrInfinity,
  maxToolCalls: { reason: "must be a whole number, 1 or more", holds: (value) => positive(value) === undefined },
  answer: {
    reason: "must be user_message or tool_result",
    holds: (value) => value === "user_message" || value === "tool_result"
  }
} satisfies Partial<Record<keyof TroupeOptions, Demand>>

/** The options of a Troupe, by whose they are. */
export interface TroupeParts {
  readonly own: Pick<TroupeOptions, keyof typeof ownOptions>
  readonly engine: EngineOptions
  readonly chat: ChatOptions
}

const isEngines = (name: string): boolean => Object.hasOwn(EngineOptions.shape, name)
const isOwn = (name: string): boolean => Object.hasOwn(ownOptions, name)

/** Takes them apart; throws a `ValidationError` that names each of the Troupe's own of the wrong kind. */
export const troupeParts = (options: TroupeOptions): TroupeParts => {
  if (typeof options !== "object" || options === null) {
    throw new ValidationError("invalid_options", [
      { field: [], reason: "must_be_an_object of options, for example Troupe.start({ adapter })" }
    ])
  }
  const found: Array<Finding> = ["signal", "requestId"]
    .filter((field) => field in options)
    .map((field) => ({ field: [field], reason: "is no option of a Troupe: it would be that of every turn" }))
  const known = [...Object.keys(ownOptions), ...Object.keys(EngineOptions.shape), ...chatOptionNames]
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) found.push({ field: [name], reason: unknownOption(name, known, providerAdvice) })
  }
  const own = new Map(Object.keys(ownOptions).map((name) => [name, Reflect.get(options, name) as unknown]))
  for (const [field, { reason, holds }] of Object.entries<Demand>(ownOptions)) {
    const value = own.get(field)
    if (value !== undefined && !holds(value)) found.push({ field: [field], reason })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  const partOf = (isMeant: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(options).filter(([name]) => isMeant(name)))
  return {
    own: Object.fromEntries(own),
    engine: partOf(isEngines),
    chat: partOf((name) => !isOwn(name) && !isEngines(name))
  }
}
