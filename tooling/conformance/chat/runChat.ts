/**
 * Runs the conformance cases of a folder against `@troupe/chat`.
 *
 * Each case ends in one of five ways: it passed; it failed; it deviates, because decisions say so (`../deviations.ts`); it is
 * skipped, being bound to Elixir or optional; or it is not examined (`support.ts`). A facet of a case that the runner does not
 * know is not examined; the other facets are.
 *
 * @module
 */
import { Clock } from "@troupe/otp"
import { Observations } from "./behaviours.ts"
import { type Case, fieldsOf, listOf, type ReadCase, readCases, textOf } from "./caseFile.ts"
import { deviationOf } from "../deviations.ts"
import { unmet } from "./expectations.ts"
import type { Difference } from "./matching.ts"
import type { Outcome } from "./outcome.ts"
import { missing, operationOf } from "./support.ts"

/** How a case ended. */
export type Status = "passed" | "failed" | "deviates" | "skipped" | "unexamined"

/** A case that was looked at; `detail` says what differs, why it deviates, or what is missing. */
export interface CaseResult {
  readonly id: string
  readonly status: Status
  readonly passed: boolean
  readonly detail: string
  /** The facets that the runner does not know. */
  readonly unexamined: ReadonlyArray<string>
}

/** Which cases to run. */
export interface ChatRunOptions {
  /** Only cases whose id contains this. */
  readonly only?: string | undefined
  /** Longest time of a case, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined
}

const defaultTimeoutMs = 10_000

/** Runs the cases of a file or a folder one after the other: some of them measure time. */
export async function* runChat(folder: string, options: ChatRunOptions = {}): AsyncGenerator<CaseResult, void> {
  for (const one of readCases(folder)) {
    if (options.only !== undefined && !one.id.includes(options.only)) continue
    yield await runCase(one, options.timeoutMs ?? defaultTimeoutMs)
  }
}

const runCase = async (one: ReadCase, timeoutMs: number): Promise<CaseResult> => {
  const ended = (status: Status, detail: string, unexamined: ReadonlyArray<string> = []): CaseResult => ({
    id: one.id,
    status,
    passed: status === "passed",
    detail,
    unexamined
  })
  if ("illFormed" in one) return ended("failed", "the case is ill-formed")
  if (one.elixir_only === true) return ended("skipped", "elixir_only")
  if (one.optional === true) return ended("skipped", "optional")
  const lacking = missing(one)
  if (lacking !== undefined) return ended("unexamined", lacking)
  const [found, unknown] = partition(await differing(one, timeoutMs))
  const nothingKnown = unknown.length > 0 && unknown.length === Object.keys(one.then).length
  if (found.length === 0 && nothingKnown) return ended("unexamined", `the facets ${unknown.join(", ")}`)
  if (found.length === 0) return ended("passed", "", unknown)
  const because = deviationOf({ suite: "chat", operation: one.when, given: one.given, expected: one.then }, found)
  if (because !== undefined) return ended("deviates", because, unknown)
  return ended("failed", found.map(({ path, message }) => `${path}: ${message}`).join(" | "), unknown)
}

/** What differs, and the facets that the runner does not know. */
export const partition = (
  all: ReadonlyArray<Difference>
): readonly [ReadonlyArray<Difference>, ReadonlyArray<string>] => [
  all.filter(({ isUnexamined }) => isUnexamined !== true),
  all.filter(({ isUnexamined }) => isUnexamined === true).map(({ path }) => path)
]

const differing = async (one: Case, timeoutMs: number): Promise<ReadonlyArray<Difference>> => {
  const seen = new Observations()
  try {
    const start = Clock.live.now()
    const outcome = await inTime(perform(one, seen), timeoutMs)
    return compared(one, {
      calls: seen.calls,
      policyCalls: seen.policyCalls,
      observedTags: seen.observedTags,
      peakConcurrency: seen.peakConcurrency,
      adapterOptions: seen.adapterOptions,
      elapsedMs: Clock.live.now() - start,
      ...outcome
    })
  } catch (thrown) {
    return [{ path: "runner", message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : textOf(thrown) }]
  }
}

const perform = async (one: Case, seen: Observations): Promise<Outcome> => {
  const operation = operationOf(one)
  if (operation === undefined) throw new Error(`no operation ${one.when}`)
  return operation(one.given, seen)
}

const compared = ({ given, then }: Case, outcome: Outcome): ReadonlyArray<Difference> => {
  const each = outcome["each"]
  if (!Array.isArray(each)) return unmet(outcome, then, given)
  const list = "after" in then ? "after" : "calls"
  const { [list]: wanted, ...rest } = then
  return [
    ...unmet(outcome, rest, given),
    ...listOf(wanted).flatMap((one, index) =>
      callDifferences((each as ReadonlyArray<Outcome>)[index] ?? {}, one, given).map((found) => ({
        ...found,
        path: `${list}.${index}.${found.path}`
      }))
    )
  ]
}

/** One of several calls: its own facets, with those of its stream one level down. */
const callDifferences = (outcome: Outcome, wanted: unknown, given: Case["given"]): ReadonlyArray<Difference> => {
  const { stream, $any: anything, ...facets } = fieldsOf(wanted)
  return anything === true ? [] : unmet(outcome, { ...facets, ...fieldsOf(stream) }, given)
}

const inTime = <A>(work: Promise<A>, ms: number): Promise<A> =>
  new Promise((resolve, reject) => {
    const timer = Clock.live.setTimeout(() => reject(new Error(`took longer than ${ms} ms`)), ms)
    work.then(resolve, reject).finally(() => Clock.live.clearTimeout(timer))
  })
