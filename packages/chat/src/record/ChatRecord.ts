/**
 * What a store keeps of a chat: enough to go on after a crash.
 *
 * @module
 */
import * as z from "zod"
import { HaltedReason, PendingQuestion } from "./ChatResult.ts"
import { InboxEntry } from "./Inbox.ts"
import { Thread, ToolCall, Usage } from "../model/index.ts"
import { OpenStep } from "./OpenStep.ts"
import { ModeStanding } from "./PermissionMode.ts"

/**
 * A chat's committed state.
 *
 * **Details**: written when a user's message was accepted, after each step, and when a turn ends; and before a call that
 * writes is started. Every call in `thread` has its result, but those in `pendingToolCalls` and those of `open`. `running` says that a turn was under way: a chat
 * revived from such a record was interrupted, and `retry` goes on. A record is plain data: a store of text keeps
 * `Codec.encode("ChatRecord", record)`, and gives back what `Codec.decode` makes of it.
 *
 * - `inbox`: inputs that were accepted and are not in the thread yet; a revived chat holds them until it is next sent to
 * - `inputs`: the ids of the inputs that the last turn took into the thread
 * - `known`: the ids that senders chose, of all inputs in the thread
 * - `expiresAt`: until when the chat waits for the user, tool results or a decision, in milliseconds since the epoch
 * - `open`: the step that is not over: its random id, where its message stands in the thread, and for each of its calls, in order, whether it
 *   may have run (`intended`), waits for a decision, was decided, is the caller's, is `done`, or none of that yet (`new`)
 * - `version`: the number of its entry in the store's log; none where the store has no log
 * - `draft`: what the interrupted reply had said, as far as that was kept
 * - `permissionMode`: the mode that calls are judged by, the loosest they may set, and the host's, where others than the options
 *   say
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { Codec, type Store } from "@troupe/chat/store"
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
    pendingToolCalls: z.array(ToolCall).readonly(),
    inbox: z.array(InboxEntry).readonly().optional(),
    inputs: z.array(z.string()).readonly().optional(),
    known: z.array(z.string()).readonly().optional(),
    expiresAt: z.number().optional(),
    open: OpenStep.optional(),
    permissionMode: ModeStanding.optional(),
    version: z.number().optional(),
    draft: z.string().optional()
  })
  .readonly()
export type ChatRecord = z.infer<typeof ChatRecord>
