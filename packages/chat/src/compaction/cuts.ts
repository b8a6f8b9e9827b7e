/**
 * Where a thread may be cut, and what stays of the messages before the cut.
 *
 * WHOLE1. A message with calls and their results are one block: a request has all of it, or nothing.
 * SAFE1. The input of the running turn, and the blocks of an open question and of background tasks that run, stay in each request.
 */
import type { Message } from "../model/index.ts"
import { begunBy, endIn, isOfRuntime } from "../record/index.ts"
import type { CompactionSource } from "./Compactor.ts"

/** Messages that are sent together, from a place on. */
export interface Block {
  readonly at: number
  readonly end: number
}

/** The blocks of a thread, in order (WHOLE1). */
export const blocksOf = (messages: ReadonlyArray<Message>): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  for (let at = 0; at < messages.length;) {
    let end = at + 1
    while (messages[end]?.role === "tool") end++
    blocks.push({ at, end })
    at = end
  }
  return blocks
}

/** The blocks that each request has (SAFE1). */
export const requiredBlocks = (
  { thread: { messages }, question }: Pick<CompactionSource, "thread" | "question">,
  blocks: ReadonlyArray<Block>
): ReadonlySet<Block> => {
  const required = new Set<Block>()
  const last = blocks.at(-1)
  if (last !== undefined) required.add(last)
  const input = blocks.findLastIndex(({ at }) => isInput(messages[at]))
  for (let place = input; place >= 0 && isInput(messages[blocks[place]?.at ?? -1]); place--) {
    const block = blocks[place]
    if (block !== undefined) required.add(block)
  }
  const running = runningTasks(messages)
  if (question === undefined && running.size === 0) return required
  for (const block of blocks) {
    const within = messages.slice(block.at, block.end)
    const asks = question !== undefined && within.some((message) => isQuestion(message, question))
    if (asks || begunBy(within).some(({ id }) => running.has(id))) required.add(block)
  }
  return required
}

/** Whether a person or the host wrote a message. */
const isInput = (message: Message | undefined): boolean => message?.role === "user" && !isOfRuntime(message)

const isQuestion = (message: Message, question: string): boolean =>
  message.role === "assistant" &&
  (message.metadata?.["tool_call_id"] === question || message.toolCalls?.some(({ id }) => id === question) === true)

/** The ids of the background tasks that have not ended. */
const runningTasks = (messages: ReadonlyArray<Message>): ReadonlySet<string> => {
  const ids = begunBy(messages).map(({ id }) => id)
  return new Set(ids.filter((id) => !messages.some((message) => endIn(message, id) !== undefined)))
}
