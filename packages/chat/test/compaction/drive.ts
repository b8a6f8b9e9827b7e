/** Drives a compactor as a chat does, on a thread without a chat. */
import { assistant, toolResult, user } from "../../src/model/Message.ts"
import type { Message, Thread } from "../../src/model/index.ts"
import {
  type CompactionPlan,
  type CompactionSource,
  type Compactor,
  sentMessages,
  trailingNote
} from "../../src/compaction/index.ts"
import { messageTokens, tokensOf, toolTokens } from "../../src/compaction/estimate.ts"

/** A request: the messages, and those that the next request need not have. */
export interface Sent {
  readonly messages: ReadonlyArray<Message>
  readonly note: ReadonlyArray<Message>
  readonly thread: Thread
  readonly isCompacted: boolean
}

/** The request that follows, or the error of the plan. */
export const nextRequest = (
  compactor: Compactor,
  source: CompactionSource,
  summary: (text: string) => string | undefined
): Sent | Error => {
  if (!compactor.isDue(source, source)) return sentOf(source, source.thread, false)
  let plan: CompactionPlan = compactor.plan(source, {})
  while (plan.type === "ask") {
    const text = summary(plan.request.text)
    plan = plan.after(text === undefined ? undefined : { text, usage: {} })
  }
  if (plan.type === "too_large") return plan.error
  if (plan.type === "nothing") return sentOf(source, source.thread, false)
  return sentOf(source, { ...source.thread, compaction: plan.compaction }, true)
}

const sentOf = (source: CompactionSource, thread: Thread, isCompacted: boolean): Sent => ({
  messages: sentMessages(thread),
  note: trailingNote(thread, source),
  thread,
  isCompacted
})

/** The estimate of a whole request. */
export const sizeOf = ({ messages, note }: Sent, { instructions = "", tools }: CompactionSource): number =>
  [...messages, ...note].reduce((sum, message) => sum + messageTokens(message), 0) +
  (instructions === "" ? 0 : tokensOf(instructions)) +
  toolTokens(tools)

/** A deterministic source of numbers from 0 to 1. */
export const randomOf = (seed: number): (() => number) => {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_507) + 0x9e3779b9) >>> 0
    return ((state ^ (state >>> 13)) >>> 0) / 4_294_967_296
  }
}

export { assistant, toolResult, user }
