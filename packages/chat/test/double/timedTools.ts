/** Tools whose calls take as long as they say on a test clock, and a record of when each ran. */
import type { Clock } from "@troupe/otp"
import { askUser, error, halt, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"
import type { Tool } from "../../src/tool/toolContract.ts"

/** What a call does when its time is over. */
const endings: Readonly<Record<string, () => HandlerResult>> = {
  halt: () => halt("enough", "halted"),
  ask: () => askUser("sure?"),
  fail: () => error("no")
}

/** `read` and `write`, keyed by their argument `key`; `runs` says when each call ran, in the order they started. */
export const timedTools = (
  clock: Clock.TestClock
): { readonly tools: ReadonlyArray<Tool>; readonly runs: () => ReadonlyArray<string> } => {
  const log: Array<{ readonly id: string; readonly from: number; to: number | undefined }> = []
  const timed = (name: "read" | "write"): Tool =>
    make({
      name,
      effect: name,
      key: ({ key }) => (typeof key === "string" ? key : undefined),
      handler: ({ ms, ending }, { toolCall }) => {
        const run = { id: toolCall.id, from: clock.now(), to: undefined as number | undefined }
        log.push(run)
        return new Promise((resolve) => {
          clock.setTimeout(() => {
            run.to = clock.now()
            resolve(endings[String(ending)]?.() ?? ok(toolCall.id))
          }, Number(ms))
        })
      }
    })
  return {
    tools: [timed("read"), timed("write")],
    runs: () => log.map(({ id, from, to }) => `${id} ${from}-${to ?? ""}`)
  }
}

/** Calls in short: `r10`, or `w5a` with the key `a`, or `w5a!halt` with an ending; the id is the word. */
export const timedCalls = (...words: ReadonlyArray<string>): ReadonlyArray<ToolCall> =>
  words.map((word) => {
    const [, kind, ms, key, ending] = /^([rw])(\d+)([a-z]*)(?:!(\w+))?$/.exec(word) ?? []
    return {
      id: word,
      name: kind === "r" ? "read" : "write",
      arguments: { ms: Number(ms), ...(key === "" ? {} : { key }), ...(ending === undefined ? {} : { ending }) }
    }
  })
