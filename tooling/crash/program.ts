/**
 * `node program.ts <database> <journal> <seed> <life>`: conversations that run until the program is killed.
 *
 * It continues the stored conversations, and prints each acknowledgement before its next request. Its tool that writes
 * appends its idempotency keys to the journal. Sometimes it kills itself after a write of the store, before its chat has
 * the result.
 */
import { appendFileSync } from "node:fs"
import { type LocalChatRef, Fake, type RunningTroupe, tool, Troupe } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import { chanceOf } from "../soak/chance.ts"
import { deadly } from "./deadly.ts"
import { answered, say } from "./output.ts"
import { openStore } from "./stores.ts"

const [database = "", journal = "", seed = "1", life = "1"] = process.argv.slice(2)
const chats = ["a", "b", "c", "d"]

const chance = chanceOf(Number(seed) * 10_007 + Number(life))

/** The model calls tools first, and then answers; each input has its own answer. */
const respond = ({ messages }: Request): Fake.Script => {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const asked = messages[at]
  const input = asked === undefined ? "nothing" : Message.text(asked)
  const begun = { text: `So you say ${input}. ` }
  if (at === messages.length - 1 && chance() < 0.6) {
    const calls = ["look", "note"].map((name) => ({ toolCall: { id: `${name} ${input}`, name, arguments: {} } }))
    return [begun, { delayMs: 1 + chance() * 6 }, ...calls, { finish: "tool_calls" }]
  }
  return [begun, { delayMs: 1 + chance() * 12 }, { text: `The answer to ${input}.` }, { finish: "stop" }]
}

const look = tool({ name: "look", effect: "read", execute: () => "nothing new" })

const note = tool({
  name: "note",
  execute: (_, { idempotencyKey, toolCall }) => {
    appendFileSync(journal, `${JSON.stringify([idempotencyKey, toolCall.id])}\n`)
    return "noted"
  }
})

/** Continues a conversation of an earlier life. */
const revived = async (troupe: RunningTroupe, id: string): Promise<LocalChatRef> => {
  const chat = await troupe.chat(id)
  const context = chat.getSnapshot()?.context
  say({ type: "revived", chat: id, phase: context?.phase ?? "none", partial: context?.partial.text ?? "" })
  if (context?.phase === "awaitingApproval") {
    const calls = context.pendingApprovals.map(({ toolCall }) => toolCall.id)
    for (const call of calls) await answered(chat, chat.approve(call, { type: "result", value: "looked after" }))
  } else if (context?.phase === "interrupted") {
    await answered(chat, chat.retry())
  }
  for (const turn of chat.resume()) await answered(chat, turn)
  return chat
}

const converse = async (troupe: RunningTroupe, id: string): Promise<void> => {
  const chat = await revived(troupe, id)
  for (let count = 1; ; count++) {
    const inputs =
      chance() < 0.3 ? [`${id}-${life}-${count}-1`, `${id}-${life}-${count}-2`] : [`${id}-${life}-${count}`]
    const turns = inputs.map((input) => ({ input, turn: chat.send(input, chance() < 0.5 ? { id: input } : {}) }))
    for (const { input, turn } of turns) {
      const { status } = await turn.receipt
      if (status === "rejected") throw new Error(`${input} was rejected`)
      say({ type: "accepted", chat: id, input })
    }
    for (const { turn } of turns) await answered(chat, turn)
    if (chance() < 0.1) {
      const to = `${id}/${life}-${count}`
      await store.fork(id, to)
      say({ type: "forked", chat: id, to })
    }
  }
}

const store = deadly(openStore(database), chance)
const troupe = await Troupe.start({
  adapter: Fake.make({ respond }),
  tools: [look, note],
  store,
  draftEveryMs: 2,
  maxRestarts: 0
})
say({ type: "ready" })
await Promise.all(
  chats.map((id) => converse(troupe, id).catch((error: unknown) => say({ type: "wrong", what: String(error) })))
)
