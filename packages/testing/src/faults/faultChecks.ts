/** Checks the options of faults. A finding has the path of the bad option and the allowed values. */
import { type Finding, optionFindings, ValidationError } from "@troupe/chat/errors"
import * as z from "zod"
import { type Fault, type FaultTarget, type PlannedFault, targets, types, type FaultOptions } from "./faultPlan.ts"

type Findings = ReadonlyArray<Finding>

/** A required option: the value passes the test, or the reason describes the expected value. */
const needs = (test: (value: unknown) => boolean, reason: string): z.ZodType => z.custom(test, reason)
const may = (test: (value: unknown) => boolean, reason: string): z.ZodType => needs(test, reason).optional()

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const isMilliseconds = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value) && value >= 0
const isProbability = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= 1
const isWhole =
  (least: number) =>
  (value: unknown): boolean =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least

const flag = may((value) => typeof value === "boolean", "must_be true or false")
const optionalMs = may(isMilliseconds, "must_be_milliseconds")
const probability = may(isProbability, "must_be a probability, from 0 to 1")
const anything = z.unknown().optional()
const oneOf = (words: ReadonlyArray<string>): z.ZodType =>
  needs((value) => words.some((word) => word === value), `must_be_one_of ${words.join(", ")}`)

const options = z.strictObject({
  system: may((value) => value instanceof Object && "clock" in value, "must_be a system of System.make"),
  seed: may(isWhole(Number.MIN_SAFE_INTEGER), "must_be a whole number"),
  plan: may(Array.isArray, "must_be_a_list of { on, name, call, fault }"),
  rates: may(isRecord, `must_be_an_object of ${targets.join(", ")}`)
} satisfies Record<keyof FaultOptions, z.ZodType>)

const planned = z.strictObject({
  on: oneOf(targets),
  name: may((value) => typeof value === "string", "must_be the name of what is called"),
  call: may(isWhole(1), "must_be the number of a call; the first is 1"),
  fault: needs(isRecord, "must_be_an_object with a type")
} satisfies Record<keyof PlannedFault, z.ZodType>)

/** The options of each fault, in addition to its type and its place. */
const parts: { readonly [Type in Fault["type"]]: z.ZodRawShape } = {
  crash: { dies: flag, error: anything },
  hang: { aware: flag },
  slow: { ms: needs(isMilliseconds, "must_be_milliseconds") },
  late: { ms: optionalMs },
  duplicate: {}
}

/** The rates of each target, and of each fault: of one type each. */
const ofTargets = z.strictObject(Object.fromEntries(targets.map((target) => [target, anything])))
const ofTypes = z.strictObject(Object.fromEntries(types.map((type) => [type, probability])))

/** Throws a `ValidationError` (`invalid_options`) that names each unknown or invalid option. */
export const checkFaults = (input: unknown): void => {
  const found = isRecord(input) ? findingsOf(input) : [{ field: [], reason: "must_be_an_object of options" }]
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

const findingsOf = (input: Readonly<Record<string, unknown>>): Findings => {
  const { plan, rates } = input
  return [
    ...optionFindings(options, input),
    ...(Array.isArray(plan) ? plan.flatMap((one: unknown, index) => below(["plan", index], plannedFindings(one))) : []),
    ...(isRecord(rates) ? below(["rates"], ratesFindings(rates)) : [])
  ]
}

const plannedFindings = (one: unknown): Findings => {
  if (!isRecord(one)) return [{ field: [], reason: "must_be_an_object { on, name, call, fault }" }]
  const { on, fault } = one
  return [...optionFindings(planned, one), ...(isRecord(fault) ? below(["fault"], faultFindings(fault, on)) : [])]
}

const faultFindings = (fault: Readonly<Record<string, unknown>>, on: unknown): Findings => {
  const type = types.find((one) => one === fault["type"])
  if (type === undefined) return optionFindings(z.object({ type: oneOf(types) }), fault)
  const after =
    on === "adapter"
      ? may(isWhole(0), "must_be a number of events, from 0")
      : may(() => false, "is a place in a stream; for adapters alone")
  return optionFindings(z.strictObject({ type: anything, after, ...parts[type] }), fault)
}

const ratesFindings = (rates: Readonly<Record<string, unknown>>): Findings => [
  ...optionFindings(ofTargets, rates),
  ...targets.flatMap((target) => below([target], rateFindings(rates[target], target)))
]

const rateFindings = (rate: unknown, target: FaultTarget): Findings => {
  if (rate === undefined) return []
  if (!isRecord(rate)) {
    return [{ field: [], reason: `must_be_an_object of ${types.join(", ")}, as { ${target}: { crash: 0.1 } }` }]
  }
  const found = optionFindings(ofTypes, rate)
  const sum = Object.values(rate).reduce((total: number, one) => total + (typeof one === "number" ? one : 0), 0)
  return found.length === 0 && sum > 1 + rounding ? [{ field: [], reason: "must_be together at most 1" }] : found
}

/** Sums of tenths are not exact. */
const rounding = 1e-9

const below = (place: ReadonlyArray<string | number>, found: Findings): Findings =>
  found.map(({ field, reason }) => ({ field: [...place, ...field], reason }))
