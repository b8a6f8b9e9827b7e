/**
 * What a turn has changed of the memories: in its thread until it ends, and then in the write of its end.
 *
 * MEMO1. The changes of a turn are stored in the write of its end. A turn that failed or was cancelled leaves none; a retry of the turn has
 *       those of its steps that stay.
 */
import * as z from "zod"
import type { Message } from "../model/index.ts"
import { isInjected, isNudge, isOfRuntime } from "../record/index.ts"
import { MemoryChange } from "./memory.ts"

/** A change in the metadata of its result: `turn` is the first input of the turn that made it. */
const Noted = z.object({ turn: z.string().optional(), change: MemoryChange })

/** The metadata of the result of a call that changes memories. */
export const notedIn = (
  turn: string | undefined,
  change: MemoryChange
): { readonly memory: z.infer<typeof Noted> } => ({
  memory: { ...(turn !== undefined && { turn }), change }
})

/**
 * The changes of a turn in its thread: those of its own calls and, if it continues a turn, those of that turn, which follow the last input of a
 * person. A change that was stored before changes nothing again.
 *
 * **Details**: `inputs` are those of the turn, and each is a message in the thread. What comes before them is not read.
 */
export const changesOf = (
  messages: ReadonlyArray<Message>,
  inputs: ReadonlyArray<string>,
  continues: boolean
): ReadonlyArray<MemoryChange> => {
  const changes: Array<MemoryChange> = []
  const [turn] = inputs
  let left = inputs.length
  let isSince = continues
  for (let place = messages.length - 1; place >= 0 && (left > 0 || isSince); place--) {
    const message = messages[place]
    if (message?.role === "user" && !isInjected(message) && !isNudge(message)) {
      left--
      if (!isOfRuntime(message)) isSince = false
    }
    if (message?.role !== "tool" || message.metadata?.["memory"] === undefined) continue
    const { data } = Noted.safeParse(message.metadata["memory"])
    if (data !== undefined && (data.turn === turn || isSince)) changes.push(data.change)
  }
  return changes.toReversed()
}
