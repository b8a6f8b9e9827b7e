/**
 * Runs dispatch cases.
 *
 * Each case ends in one of four ways: it passed; it failed; it deviates, because decisions say so (`deviations.ts`); or it
 * is not supported (`support.ts`), being about what is no part of this project.
 *
 * @module
 */
import { Clock } from "@troupe/otp"
import { textOf } from "../chat/caseFile.ts"
import type { Difference } from "../chat/matching.ts"
import { type DispatchCase, readCases } from "./caseFile.ts"
import { deviationOf } from "./deviations.ts"
import { lackingOf, operationOf } from "./support.ts"

/** How a case ended. */
export type DispatchStatus = "passed" | "failed" | "deviates" | "unsupported"

/** A case that was looked at; `detail` says what differs, why it deviates, or why it is not run. */
export interface DispatchResult {
  readonly id: string
  readonly status: DispatchStatus
  readonly detail: string
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
  const operation = operationOf(one)
  if (operation === undefined) return { status: "unsupported", detail: lackingOf(one) }
  const found = await inTime(operation(one), timeoutMs).catch(faultOf)
  if ("unsupported" in found) return { status: "unsupported", detail: found.unsupported }
  if (found.length === 0) return { status: "passed", detail: "" }
  const because = deviationOf(one, found)
  if (because !== undefined) return { status: "deviates", detail: because }
  return { status: "failed", detail: found.map(({ path, message }) => `${path}: ${message}`).join(" | ") }
}

const faultOf = (thrown: unknown): ReadonlyArray<Difference> => [
  { path: "runner", message: thrown instanceof Error ? (thrown.stack ?? thrown.message) : textOf(thrown) }
]

const inTime = <A>(work: Promise<A>, ms: number): Promise<A> =>
  new Promise((resolve, reject) => {
    const timer = Clock.live.setTimeout(() => reject(new Error(`took longer than ${ms} ms`)), ms)
    work.then(resolve, reject).finally(() => Clock.live.clearTimeout(timer))
  })
