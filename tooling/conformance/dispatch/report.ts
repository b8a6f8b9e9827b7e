/**
 * Tells how dispatch cases went.
 *
 * @module
 */
import { unexaminedOf } from "../unexamined.ts"
import { type DispatchResult, type DispatchRunOptions, type DispatchStatus, runDispatch } from "./runDispatch.ts"

/** Lines to print, the last of which is the tally, and whether nothing failed but what a decision explains. */
export interface DispatchReport {
  readonly lines: ReadonlyArray<string>
  readonly asExpected: boolean
}

/** Runs the cases and tells of each that did not pass; the tally counts as failed what no decision explains. */
export const reportDispatch = async (path: string, options: DispatchRunOptions = {}): Promise<DispatchReport> => {
  const results: Array<DispatchResult> = []
  for await (const result of runDispatch(path, options)) results.push(result)
  const of = (status: DispatchStatus) => results.filter((result) => result.status === status)
  const [passed, failed, deviating] = [of("passed").length, of("failed").length, of("deviates").length]
  const unexamined = unexaminedOf(results)
  return {
    lines: [
      ...of("failed").map(({ id, detail }) => `${id}: ${detail}`),
      ...of("deviates").map(({ id, detail }) => `${id}: deviates (${detail})`),
      ...unexamined.lines,
      `${deviating} deviate by decision; ${unexamined.tally}`,
      `${passed} passed, ${failed} failed`
    ],
    asExpected: failed === 0
  }
}
