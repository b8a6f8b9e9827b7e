/** Many living chats at the same time: two turns, each with two tool calls of 10 ms and then 10 deltas at once. */
import type { ChatRef } from "@troupe/chat"
import { together } from "./programA.ts"
import { adapterOf, waitTool, withTroupe } from "./troupe.ts"

const toolMs = 10
const words = 10

const finish = async (chat: ChatRef): Promise<void> => {
  for (let turn = 0; turn < 2; turn++) {
    const { haltedReason, ...result } = await chat.send("go").result()
    if (haltedReason !== "completed") throw new Error(`a chat ended ${haltedReason}`, { cause: result })
  }
}

/** Runs so many chats to the end of their turns. */
export const crowd = (count: number): Promise<void> =>
  withTroupe({ adapter: adapterOf("at once", words), tools: [waitTool(toolMs)] }, (troupe) =>
    together(count, async (index) => finish(await troupe.chat(`chat-${index}`)))
  )
