/** Records for the laws of a store: a conversation, entry by entry, with every part that a record can have. */
import * as DateTime from "effect/DateTime"
import { user } from "@troupe/chat"
import { Message, Usage } from "@troupe/chat/messages"
import type { Conversation } from "@troupe/chat/store"

/** A waiting input. */
export type InboxEntry = NonNullable<Conversation["inbox"]>[number]

/** A record with these messages. */
export const recordWith = (
  id: string,
  messages: ReadonlyArray<Message.Message>,
  rest: Partial<Conversation> = {}
): Conversation => ({
  id,
  thread: { messages },
  usage: Usage.empty,
  running: false,
  pendingToolCalls: [],
  ...rest
})

/** A record with these user messages. */
export const said = (id: string, ...texts: ReadonlyArray<string>): Conversation =>
  recordWith(
    id,
    texts.map((text) => user(text))
  )

/** A waiting input with this text. */
export const inputOf = (id: string, text: string): InboxEntry => ({ id, whenBusy: "queue", message: user(text) })

/** A waiting input with every field. */
export const richInput = (id: string): InboxEntry => ({ id, named: true, whenBusy: "steer", message: asking })

const dateAt = (ms: number): Date => DateTime.toDateUtc(DateTime.makeUnsafe(ms))

const call = { id: "c1", name: "pay", arguments: { amount: 3, when: dateAt(86_400_000), exact: 12n } }
const other = { id: "c2", name: "ask", arguments: null, rawArguments: '{"cut' }

const asking = {
  ...user('Pay 3 € to "O\'Hara" — 100%_sure \u{1F600}'),
  metadata: { at: dateAt(1), tags: [] }
}
const question: Message.Message = asking
const calls: Message.Message = { ...Message.assistant("", [call, other]), metadata: { cost: Number.NaN } }
const paid: Message.Message = Message.toolResult("c1", { paid: 3 })
const image = { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" } }
const asked: Message.Message = {
  ...Message.toolResult("c2", [{ type: "text", text: "Which account?" }, image]),
  metadata: { bytes: new Uint8Array([0, 255]) }
}
const closing: Message.Message = { ...Message.assistant("Done."), metadata: { $date: "none", nothing: null } }

const usage = { ...Usage.empty, inputTokens: 7, toolUsage: { pay: { calls: 1n } } }

/**
 * A conversation's records in the order they are saved: an accepted input, an open step that writes, its results, a
 * question, its answer, a retry that removes messages, and an emptied thread.
 */
export const conversation = (id: string): ReadonlyArray<Conversation> => {
  const begun = recordWith(id, [question], { running: true, inputs: ["i1"], known: ["i1"] })
  const open = {
    ...begun,
    thread: { messages: [question, calls] },
    usage,
    open: {
      id: "s1",
      at: 1,
      calls: [{ state: "intended" }, { state: "waiting", kind: "permission", reason: "r", askedAt: 5 }]
    }
  } satisfies Conversation
  const inPlace = {
    ...open,
    thread: { messages: [question, calls, paid], metadata: { title: "Payments", since: dateAt(2) } },
    open: {
      id: "s1",
      at: 1,
      calls: [{ state: "done" }, { state: "decided", kind: "permission", decision: { type: "allow" } }]
    }
  } satisfies Conversation
  const pendingQuestion = { toolCallId: "c2", question: "Which account?", options: { choices: ["a", 1n] } }
  const waits = recordWith(id, [question, calls, paid, asked], {
    usage,
    lastHaltedReason: "ask_user",
    pendingQuestion,
    inputs: ["i1"],
    known: ["i1"],
    expiresAt: 99
  })
  const answered = recordWith(id, [question, calls, paid, asked, user("a"), closing], {
    usage,
    lastHaltedReason: "completed",
    inputs: ["i2"],
    known: ["i1", "i2"],
    permissionMode: { mode: "plan", loosest: "default" }
  })
  const again = { ...answered, thread: { messages: [question, Message.assistant("Another answer")] }, known: ["i1"] }
  const manual = recordWith(id, [question, Message.assistant("", [call])], { pendingToolCalls: [call], known: ["i1"] })
  return [begun, open, inPlace, waits, answered, again, manual, recordWith(id, [])]
}
