/**
 * Exact counts of one living chat that runs program A: from its start to the end of its turn.
 *
 * Each quantity is counted in a chat of its own, so that no counter adds to another one's count. The program's own promises
 * count too. They are the same for every implementation of a chat.
 */
import { createHook } from "node:async_hooks"
import type { RunningTroupe } from "@troupe/chat"
import { Telemetry } from "@troupe/otp"
import { type Costs, settle } from "./timed.ts"
import { oneLiving, programA, withTroupe } from "./troupe.ts"

const countPromises = async (body: () => Promise<void>): Promise<number> => {
  let promises = 0
  const hook = createHook({ init: (_, type) => void (promises += type === "PROMISE" ? 1 : 0) }).enable()
  await body()
  hook.disable()
  return promises
}

const countProcesses = async ({ system }: RunningTroupe, body: () => Promise<void>): Promise<number> => {
  let processes = 0
  const detach = Telemetry.attach(system, "process.spawn", () => void processes++)
  await body()
  detach()
  return processes
}

/** Counts the processes and promises of a chat. */
export const counts = (): Promise<Costs> =>
  withTroupe(programA("by turns"), async (troupe) => {
    let chats = 0
    const one = async (): Promise<void> => {
      await oneLiving(troupe, `chat-${chats++}`)
      await settle()
    }
    const idle = await countPromises(settle)
    await one()
    const promises = (await countPromises(one)) - idle
    return { promises, processes: await countProcesses(troupe, one) }
  })
