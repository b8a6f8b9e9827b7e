/**
 * What a store keeps of a chat: enough to go on after a crash.
 *
 * @module
 */
import * as z from "zod"
import { HaltedReason, PendingQuestion } from "./ChatResult.ts"
import { Thread } from "./Thread.ts"
import { ToolCall } from "./ToolCall.ts"
import { Usage } from "./Usage.ts"

/**
 * A chat's committed state.
 *
 * **Details**: written when a user's message was accepted, after each step, and when a turn ends; never between, so every
 * call in `thread` has its result, but those in `pendingToolCalls`. `running` says that a turn was under way: a chat
 * revived from such a record was interrupted, and `retry` goes on. A record is plain data: a store of text keeps
 * `Codec.encode("ChatRecord", record)`, and gives back what `Codec.decode` makes of it.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Codec, Fake, type Store, Troupe } from "@troupe/chat"
 *
 * const texts = new Map<string, string>()
 * const store: Store.Store = {
 *   load: (id) => {
 *     const text = texts.get(id)
 *     return text === undefined ? undefined : Codec.decode("ChatRecord", text)
 *   },
 *   save: (record) => void texts.set(record.id, Codec.encode("ChatRecord", record)),
 *   delete: (id) => void texts.delete(id)
 * }
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }), store })
 * await (await troupe.chat("a")).send("Hello").result()
 * await troupe.stop()
 *
 * Codec.decode("ChatRecord", texts.get("a") ?? "").lastHaltedReason // => "completed"
 * ```
 */
export const ChatRecord = z
  .object({
    id: z.string(),
    thread: Thread,
    usage: Usage,
    running: z.boolean(),
    lastHaltedReason: HaltedReason.optional(),
    pendingQuestion: PendingQuestion.optional(),
    pendingToolCalls: z.array(ToolCall).readonly()
  })
  .readonly()
export type ChatRecord = z.infer<typeof ChatRecord>
