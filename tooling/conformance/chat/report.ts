/**
 * Tells how the cases of a chat folder went.
 *
 * @module
 */
import { unexaminedOf } from "../unexamined.ts"
import { type CaseResult, type ChatRunOptions, runChat, type Status } from "./runChat.ts"

/** Lines to print, the last of which is the tally, and whether nothing failed but what a decision explains. */
export interface ChatReport {
  readonly lines: ReadonlyArray<string>
  readonly asExpected: boolean
}

/** Runs the cases and tells of each that fails or deviates; the tally counts as failed what no decision explains. */
export const reportChat = async (path: string, options: ChatRunOptions = {}): Promise<ChatReport> => {
  const results: Array<CaseResult> = []
  for await (const result of runChat(path, options)) results.push(result)
  const of = (status: Status) => results.filter((result) => result.status === status)
  const lines = [...of("failed"), ...of("deviates")].map(({ id, status, detail }) =>
    status === "failed" ? `${id}: ${detail}` : `${id}: deviates (${detail})`
  )
  const [passed, failed, deviating] = [of("passed").length, of("failed").length, of("deviates").length]
  const unexamined = unexaminedOf(results)
  return {
    lines: [
      ...lines,
      ...unexamined.lines,
      `${deviating} deviate by decision; not run: ${counted(of("skipped"))}; ${unexamined.tally}`,
      `${passed} passed, ${failed} failed`
    ],
    asExpected: failed === 0
  }
}

/** How many results there are of each detail. */
const counted = (results: ReadonlyArray<CaseResult>): string => {
  const counts = new Map<string, number>()
  for (const { detail } of results) counts.set(detail, (counts.get(detail) ?? 0) + 1)
  return counts.size === 0 ? "none" : [...counts].map(([detail, count]) => `${count} ${detail}`).join(", ")
}
