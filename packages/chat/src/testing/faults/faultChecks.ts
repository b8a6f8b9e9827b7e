/** Checks the options of faults. A finding has the path of the bad option and the allowed values. */
import { type Finding, isRecord, unknownNames, ValidationError } from "../../errors/index.ts"
import { type Fault, type FaultTarget, type PlannedFault, targets, types, type FaultOptions } from "./faultPlan.ts"

type Findings = ReadonlyArray<Finding>
type Check = (value: unknown) => string | undefined
type Checks<Part extends string> = { readonly [Name in Part]: Check }

const whole =
  (least: number, what: string): Check =>
  (value) =>
    typeof value === "number" && Number.isSafeInteger(value) && value >= least ? undefined : `must_be ${what}`
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "must_be true or false")
const milliseconds: Check = (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? undefined : "must_be_milliseconds"
const probability: Check = (value) =>
  typeof value === "number" && value >= 0 && value <= 1 ? undefined : "must_be a probability, from 0 to 1"
const anything: Check = () => undefined
const oneOf =
  (words: ReadonlyArray<string>): Check =>
  (value) =>
    words.some((word) => word === value) ? undefined : `must_be_one_of ${words.join(", ")}`

const options: Checks<keyof FaultOptions> = {
  system: (value) => (value instanceof Object && "clock" in value ? undefined : "must_be a system of System.make"),
  seed: whole(Number.MIN_SAFE_INTEGER, "a whole number"),
  plan: (value) => (Array.isArray(value) ? undefined : "must_be_a_list of { on, name, call, fault }"),
  rates: (value) => (isRecord(value) ? undefined : `must_be_an_object of ${targets.join(", ")}`)
}

const planned: Checks<keyof PlannedFault> = {
  on: oneOf(targets),
  name: (value) => (typeof value === "string" ? undefined : "must_be the name of what is called"),
  call: whole(1, "the number of a call; the first is 1"),
  fault: (value) => (isRecord(value) ? undefined : "must_be_an_object with a type")
}

/** The options of each fault, in addition to its type and its place. */
const parts: { readonly [Type in Fault["type"]]: Readonly<Record<string, Check>> } = {
  crash: { dies: flag, error: anything },
  hang: { aware: flag },
  slow: { ms: milliseconds },
  late: { ms: milliseconds },
  duplicate: {}
}

/** Throws a `ValidationError` (`invalid_options`) that names each unknown or invalid option. */
export const checkFaults = (given: unknown): void => {
  const found = isRecord(given) ? findingsOf(given) : [{ field: [], reason: "must_be_an_object of options" }]
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

const findingsOf = (given: Readonly<Record<string, unknown>>): Findings => {
  const { plan, rates } = given
  return [
    ...partsOf(given, options),
    ...(Array.isArray(plan) ? plan.flatMap((one: unknown, index) => below(["plan", index], plannedFindings(one))) : []),
    ...(isRecord(rates) ? below(["rates"], ratesFindings(rates)) : [])
  ]
}

const plannedFindings = (one: unknown): Findings => {
  if (!isRecord(one)) return [{ field: [], reason: "must_be_an_object { on, name, call, fault }" }]
  const { on, fault } = one
  return [
    ...partsOf(one, planned, ["on", "fault"]),
    ...(isRecord(fault) ? below(["fault"], faultFindings(fault, on)) : [])
  ]
}

const faultFindings = (fault: Readonly<Record<string, unknown>>, on: unknown): Findings => {
  const type = types.find((one) => one === fault["type"])
  if (type === undefined) return partsOf({ type: fault["type"] }, { type: oneOf(types) }, ["type"])
  const place: Checks<"after"> = {
    after: (value) =>
      on === "adapter" ? whole(0, "a number of events, from 0")(value) : "is a place in a stream; for adapters alone"
  }
  return partsOf(fault, { type: anything, ...place, ...parts[type] }, type === "slow" ? ["ms"] : [])
}

const ratesFindings = (rates: Readonly<Record<string, unknown>>): Findings => [
  ...unknownNames(rates, targets),
  ...targets.flatMap((target) => below([target], rateFindings(rates[target], target)))
]

const rateFindings = (rate: unknown, target: FaultTarget): Findings => {
  if (rate === undefined) return []
  if (!isRecord(rate)) {
    return [{ field: [], reason: `must_be_an_object of ${types.join(", ")}, as { ${target}: { crash: 0.1 } }` }]
  }
  const found = partsOf(rate, Object.fromEntries(types.map((type) => [type, probability])))
  const sum = Object.values(rate).reduce((total: number, one) => total + (typeof one === "number" ? one : 0), 0)
  return found.length === 0 && sum > 1 + rounding ? [{ field: [], reason: "must_be together at most 1" }] : found
}

/** Sums of tenths are not exact. */
const rounding = 1e-9

const partsOf = (
  given: Readonly<Record<string, unknown>>,
  checks: Readonly<Record<string, Check>>,
  needed: ReadonlyArray<string> = []
): Findings => [
  ...unknownNames(given, Object.keys(checks)),
  ...Object.entries(checks).flatMap(([part, check]): Findings => {
    const value = given[part]
    const wrong = value === undefined && !needed.includes(part) ? undefined : check(value)
    return wrong === undefined ? [] : [{ field: [part], reason: wrong }]
  })
]

const below = (place: ReadonlyArray<string | number>, found: Findings): Findings =>
  found.map(({ field, reason }) => ({ field: [...place, ...field], reason }))
