/** Many living chats at the same time: two turns, each with two tool calls of 10 ms and then 10 deltas at once. */
import type { ChatRef } from "@troupe/chat"
import { together } from "./programA.ts"
import { type Costs, afterRest } from "./timed.ts"
import { adapterOf, waitTool, withTroupe } from "./troupe.ts"

const toolMs = 10
const words = 10
const warmChats = 1_000
const chats = 30_000

const succeeds = async (chat: ChatRef): Promise<boolean> => {
  for (let turn = 0; turn < 2; turn++) {
    const [ended] = await Promise.allSettled([chat.send("go").result()])
    if (ended.status === "rejected" || ended.value.haltedReason !== "completed") return false
  }
  return true
}

/** Runs 30,000 chats in crowds of this size, one crowd after another, and counts the chats with a failed turn. */
export const crowds = async (size: number): Promise<Costs> => {
  let failed = 0
  const run = (count: number): Promise<void> =>
    withTroupe({ adapter: adapterOf("at once", words), tools: [waitTool(toolMs)] }, (troupe) =>
      together(count, async (index) => {
        if (!(await succeeds(await troupe.chat(`chat-${index}`)))) failed++
      })
    )
  for (let round = 0; round < 2; round++) await run(warmChats)
  const costs = await afterRest(async () => {
    for (let done = 0; done < chats; done += size) await run(size)
  })
  return { ...costs, failed }
}
