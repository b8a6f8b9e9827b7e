/**
 * The stored state of a chat, from which the chat continues after a crash.
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
 * **Details**: a record is written when a user message was accepted, after each step, when a turn ends, and before a call
 * that writes is started. Every call in `thread` has its result, except those in `pendingToolCalls` and in `open`.
 * `running` means that a turn was under way: a chat loaded from such a record was interrupted, and `retry` continues it. A
 * record is plain data: a text store writes `Codec.encode("ChatRecord", record)`, and reads with `Codec.decode`.
 *
 * - `inbox`: accepted inputs that are not in the thread yet; a loaded chat holds them until its next input
 * - `inputs`: the ids of the inputs that the last turn added to the thread
 * - `known`: the ids that senders chose, of all inputs in the thread
 * - `expiresAt`: when the chat stops waiting for the user, tool results or a decision, in milliseconds since the epoch
 * - `open`: the step that is not over: its random id, the index of its message in the thread, and the state of each of its
 *   calls, in order: it may have run (`intended`), waits for a decision, was decided, is the caller's, is `done`, or has
 *   not begun (`new`)
 * - `version`: the number of its entry in the store's log; absent if the store has no log
 * - `draft`: the text of the interrupted reply, as far as it was stored
 * - `permissionMode`: the mode of calls, the loosest mode they may set, and the host's mode, if they differ from the
 *   options
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
