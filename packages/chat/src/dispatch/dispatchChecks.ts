/** What a dispatcher's state and options may be; what may not is named by its path, with what is allowed there. */
import { type Finding, ValidationError } from "../errors/ChatError.ts"
import { isMode, modes } from "../gate/Permissions.ts"
import { callsFindings } from "../batch/callChecks.ts"
import { hooks, permissions } from "../gate/gateChecks.ts"
import { unknownNames } from "../errors/unknownKeys.ts"
import { isRecord } from "../options/optionChecks.ts"

type Check = (value: unknown) => string | ReadonlyArray<Finding> | undefined

const isMilliseconds = (value: unknown): boolean => typeof value === "number" && value >= 0

const milliseconds: Check = (value) => (isMilliseconds(value) ? undefined : "must_be_milliseconds, or left out")

const whole: Check = (value) =>
  Number.isInteger(value) || value === Infinity ? undefined : "must_be_a_whole_number, or left out"

const asFunction: Check = (value) => (typeof value === "function" ? undefined : "must_be_a_function")

const parts: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  effect: (value) => (value === "read" || value === "write" ? undefined : "must_be_one_of read, write"),
  key: (value) => (typeof value === "function" ? undefined : "must_be_a_function of the arguments"),
  timeoutMs: (value) => (isMilliseconds(value) ? undefined : "must_be_milliseconds")
}

const tools: Check = (value) => {
  if (!Array.isArray(value)) return "must_be_a_list of tools"
  return value.flatMap((tool: unknown, index): ReadonlyArray<Finding> => {
    if (!isRecord(tool) || typeof tool["name"] !== "string") {
      return [{ field: [index], reason: "must_be a tool: { name, effect, key, timeoutMs }" }]
    }
    return Object.entries(parts).flatMap(([part, check]) => {
      const wrong = tool[part] === undefined ? undefined : check(tool[part])
      return wrong === undefined ? [] : [{ field: [index, part], reason: wrong }]
    })
  })
}

const checks: Readonly<Record<string, Check>> = {
  tools,
  maxConcurrency: whole,
  toolTimeoutMs: milliseconds,
  phase: (value) => (isMode(value) ? undefined : `must_be_one_of ${modes.join(", ")}`),
  permissions,
  hooks,
  context: (value) => (isRecord(value) ? undefined : "must_be_an_object of names and values"),
  onEvent: asFunction
}

const optionChecks: Readonly<Record<string, (value: unknown) => boolean>> = {
  schedule: (value) => value === "effects" || value === "reference",
  system: (value) => isRecord(value) && typeof value["make"] === "function",
  signal: (value) => value instanceof AbortSignal
}

const allowed: Readonly<Record<string, string>> = {
  schedule: "must_be_one_of effects, reference",
  system: "must_be a system, as System.make makes them",
  signal: "must_be an AbortSignal"
}

/** What is dispatched. */
interface Dispatched {
  readonly calls: unknown
  readonly state: unknown
  readonly options: unknown
  readonly runner?: unknown
}

/** Throws a `ValidationError` (`invalid_options`) that names every bad value. */
export const checkDispatch = ({ calls, state, options, ...rest }: Dispatched): void => {
  const found: Array<Finding> = [
    ...callsFindings("calls", calls),
    ...stateFindings(state),
    ...("runner" in rest && typeof rest.runner !== "function"
      ? [{ field: ["runner"], reason: "must_be_a_function of a call and the state" }]
      : []),
    ...optionFindings(options)
  ]
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

const stateFindings = (state: unknown): ReadonlyArray<Finding> => {
  if (!isRecord(state)) return [{ field: ["state"], reason: "must_be_an_object" }]
  return Object.entries(checks).flatMap(([field, check]): ReadonlyArray<Finding> => {
    const value = state[field]
    const wrong = value === undefined || value === null ? undefined : check(value)
    if (typeof wrong === "string") return [{ field: ["state", field], reason: wrong }]
    return (wrong ?? []).map(({ field: path, reason }) => ({ field: ["state", field, ...path], reason }))
  })
}

const optionFindings = (options: unknown): ReadonlyArray<Finding> => {
  if (!isRecord(options)) return [{ field: [], reason: "must_be_an_object of options" }]
  const known = Object.keys(optionChecks)
  return [
    ...unknownNames(options, known),
    ...known.flatMap((field) =>
      options[field] === undefined || optionChecks[field]?.(options[field]) === true
        ? []
        : [{ field: [field], reason: allowed[field] ?? "" }]
    )
  ]
}
