/**
 * Runs dispatch cases.
 *
 * Each case ends in one of four ways: it passed; it failed; it deviates, because decisions say so (`../deviations.ts`); or it
 * is not examined (`support.ts`), being about what is no part of this project. A facet of a case that the runner does not know
 * is not examined; the other facets are.
 *
 * @module
 */
import { Clock } from "@troupe/otp"
import { fieldsOf, textOf } from "../chat/caseFile.ts"
import type { Difference } from "../chat/matching.ts"
import type { CaseFacts } from "../deviating.ts"
import { type DispatchCase, readCases } from "./caseFile.ts"
import { partition } from "../chat/runChat.ts"
import { deviationOf } from "../deviations.ts"
import { lackingOf, operationOf } from "./support.ts"

/** How a case ended. */
export type DispatchStatus = "passed" | "failed" | "deviates" | "unexamined"

/** A case that was looked at; `detail` says what differs, why it deviates, or why it is not run. */
export interface DispatchResult {
  readonly id: string
  readonly status: DispatchStatus
  readonly detail: string
  /** The facets that the runner does not know. */
  readonly unexamined: ReadonlyArray<string>
}

/** Which cases to run. */
export interface DispatchRunOptions {
  /** Only cases whose id begins with this. */
  readonly only?: string | undefined
  /** Longest time of a case, in milliseconds of the host. Default 10,000. */
  readonly timeoutMs?: number | undefined
}

/** Runs the cases of a file or a folder, one after the other. */
export async function* runDispatch(
  path: string,
  { only = "", timeoutMs = 10_000 }: DispatchRunOptions = {}
): AsyncGenerator<DispatchResult, void> {
  for (const one of readCases(path)) if (one.id.startsWith(only)) yield { id: one.id, ...(await judge(one, timeoutMs)) }
}

const judge = async (one: DispatchCase, timeoutMs: number): Promise<Omit<DispatchResult, "id">> => {
  const ended = (status: DispatchStatus, detail: string, unexamined: ReadonlyArray<string> = []) => ({
    status,
    detail,
    unexamined
  })
  const operation = operationOf(one)
  if (operation === undefined) return ended("unexamined", lackingOf(one))
  if (isOld(one)) return ended("unexamined", "what only an old version does")
  const all = await inTime(operation(one), timeoutMs).catch(faultOf)
  if ("unsupported" in all) return ended("unexamined", all.unsupported)
  const [found, unknown] = partition(all)
  const nothingKnown = unknown.length > 0 && unknown.length === Object.keys(one.expected).length
  if (found.length === 0 && nothingKnown) return ended("unexamined", `the facets ${unknown.join(", ")}`)
  if (found.length === 0) return ended("passed", "", unknown)
  const because = deviationOf(factsOf(one), found)
  if (because !== undefined) return ended("deviates", because, unknown)
  return ended("failed", found.map(({ path, message }) => `${path}: ${message}`).join(" | "), unknown)
}

const isOld = ({ version }: DispatchCase): boolean => version !== undefined && /^(only )?0\.4\.2( only)?$/.test(version)

const factsOf = ({ operation, given, when, recorded, expected }: DispatchCase): CaseFacts => ({
  suite: "dispatch",
  operation,
  given: { ...when, ...given, ...recorded, ...fieldsOf(recorded["setup"]) },
  expected
})

const faultOf = (thrown: unknown): ReadonlyArray<Difference> => [
  { path: "runner", message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : textOf(thrown) }
]

const inTime = <A>(work: Promise<A>, ms: number): Promise<A> =>
  new Promise((resolve, reject) => {
    const timer = Clock.live.setTimeout(() => reject(new Error(`took longer than ${ms} ms`)), ms)
    work.then(resolve, reject).finally(() => Clock.live.clearTimeout(timer))
  })
