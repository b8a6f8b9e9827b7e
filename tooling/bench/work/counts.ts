/**
 * Exact counts of one living chat that runs program A: from its start to the end of its turn.
 *
 * Each quantity is counted in a chat of its own, so that no counter adds to another one's count. The program's own promises
 * count too. They are the same for every implementation of a chat.
 */
import { createHook } from "node:async_hooks"
import type { RunningTroupe } from "@troupe/chat"
import { Telemetry } from "@troupe/otp"
import { Actor } from "xstate"
import { type Costs, settle } from "./timed.ts"
import { oneLiving, programA, withTroupe } from "./troupe.ts"

const countPromises = async (body: () => Promise<void>): Promise<number> => {
  let promises = 0
  const hook = createHook({ init: (_, type) => void (promises += type === "PROMISE" ? 1 : 0) }).enable()
  await body()
  hook.disable()
  return promises
}

/** Every actor is started once. */
const countActors = async (body: () => Promise<void>): Promise<number> => {
  const prototype = Actor.prototype as unknown as Record<"start", unknown>
  const original = prototype.start
  if (typeof original !== "function") throw new Error("an XState actor has no start")
  let actors = 0
  prototype.start = function (this: unknown, ...args: ReadonlyArray<unknown>): unknown {
    actors++
    return Reflect.apply(original, this, args)
  }
  await body()
  prototype.start = original
  return actors
}

const countProcesses = async ({ system }: RunningTroupe, body: () => Promise<void>): Promise<number> => {
  let processes = 0
  const detach = Telemetry.attach(system, "process.spawn", () => void processes++)
  await body()
  detach()
  return processes
}

/** Counts the processes, actors and promises of a chat. */
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
    return { promises, actors: await countActors(one), processes: await countProcesses(troupe, one) }
  })
