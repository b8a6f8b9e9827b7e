/**
 * Many living chats at the same time: two turns, each with two tool calls of 10 ms and then 10 deltas at once.
 *
 * The crowd is measured on a busy machine too. So the system's deadlines are so long that none ends a turn.
 */
import { type ChatRef, Troupe } from "@troupe/chat"
import { Clock, System } from "@troupe/otp"
import { together } from "./programA.ts"
import { adapterOf, waitTool } from "./troupe.ts"

const toolMs = 10
const words = 10

const deadlineMs = 1_000
const patience = 100

/** The host's clock, with longer deadlines. Shorter timers keep their time. */
const patientClock: Clock.Clock = {
  now: () => Clock.live.now(),
  setTimeout: (run, ms) => Clock.live.setTimeout(run, ms < deadlineMs ? ms : ms * patience),
  clearTimeout: (id) => Clock.live.clearTimeout(id),
  setBackgroundTimeout: (run, ms) => Clock.live.setBackgroundTimeout?.(run, ms)
}

const finish = async (chat: ChatRef): Promise<void> => {
  for (let turn = 0; turn < 2; turn++) {
    const { haltedReason, ...result } = await chat.send("go").result()
    if (haltedReason !== "completed") throw new Error(`a chat ended ${haltedReason}`, { cause: result })
  }
}

/** Runs so many chats to the end of their turns. */
export const crowd = async (count: number): Promise<void> => {
  const system = System.make({ clock: patientClock })
  const troupe = await Troupe.start({ system, adapter: adapterOf("at once", words), tools: [waitTool(toolMs)] })
  await together(count, async (index) => finish(await troupe.chat(`chat-${index}`)))
  await troupe.stop()
  await System.stop(system)
}
