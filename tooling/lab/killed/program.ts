/**
 * `node program.ts <database> <seed> <life> <chats | trees | long | summary> [last]`: conversations that run until the program is killed.
 *
 * It continues the stored conversations, and reports each acknowledgement before its next request. Sometimes it kills itself after
 * a write of the store, before its chat has the result. The chats talk, write and are forked, or have trees of agents, some of
 * whose calls wait for a person, who decides at the root. Or they are long, and compacted: as `summary` the program kills itself while a
 * summary streams. With `last` it sends nothing, and ends when every chat is at its end.
 */
import { flushCompileCache } from "node:module"
import { type LocalChatRef, Troupe } from "@troupe/chat"
import { Compaction } from "@troupe/chat/compaction"
import type { LiveTurn } from "@troupe/chat/chats"
import { SessionError } from "@troupe/chat/errors"
import { Message } from "@troupe/chat/messages"
import type { Store } from "@troupe/chat/store"
import { chanceOf } from "../chance.ts"
import { until } from "../delays.ts"
import { say } from "../check/history.ts"
import { openStore } from "../check/kept.ts"
import { asksForSummary, looked, workloadOf, works } from "../workload.ts"

const [database = "", seed = "1", life = "1", kind = "chats", last] = process.argv.slice(2)
const areTrees = kind === "trees"
const areLong = kind === "long" || kind === "summary"
/** How long a conversation may take to load, in milliseconds. */
const loadMs = 10_000
const chance = chanceOf(Number(seed) * 10_007 + Number(life))

/** Waits for the answer of a turn, and reports it. */
const answered = async (chat: LocalChatRef, turn: LiveTurn): Promise<void> => {
  const { thread } = await turn.result()
  const reply = thread.messages.at(-1)
  if (reply?.role === "assistant") say({ type: "answered", chat: chat.id, text: Message.text(reply) })
  const { upTo } = chat.thread.compaction ?? {}
  if (upTo !== undefined) say({ type: "compacted", chat: chat.id, upTo })
}

const failed = (error: unknown): void => say({ type: "wrong", what: String(error) })

/** The decisions of each chat that are being made. */
const deciding = new Map<string, Promise<void>>()

/** Decides about everything that waits. Of a call whose outcome is unknown a person knows what it did. */
const decideAll = async (chat: LocalChatRef): Promise<void> => {
  for (;;) {
    const { pendingApprovals = [] } = chat.getSnapshot()?.context ?? {}
    if (pendingApprovals.length === 0) return
    for (const { toolCall, kind: asked } of pendingApprovals) {
      const call = toolCall.id.split("/~/").at(-1) ?? ""
      const value = asked === "question" ? `${looked} ${call}` : looked
      await answered(
        chat,
        chat.approve(toolCall.id, asked === "permission" ? { type: "allow" } : { type: "result", value })
      )
      if (asked !== "unknown_outcome") say({ type: "allowed", chat: chat.id, call })
    }
  }
}

const decide = (chat: LocalChatRef): Promise<void> => {
  const made = deciding.get(chat.id) ?? decideAll(chat).finally(() => deciding.delete(chat.id))
  deciding.set(chat.id, made)
  return made
}

/** Retries a turn. The end of a background task may have continued it before, and its calls then wait. */
const retried = (chat: LocalChatRef): Promise<void> =>
  answered(chat, chat.retry()).catch((error: unknown) => {
    if (!(error instanceof SessionError && error.reason === "awaiting_approval")) throw error
  })

/** Loads a conversation, again while the store gives no answer in time, as on a busy machine (LAB16). */
const loaded = async (id: string): Promise<LocalChatRef> => {
  let chat: LocalChatRef | undefined
  await until(async () => {
    chat = await troupe.chat(id).catch((error: unknown) => {
      if (!(error instanceof SessionError && error.reason === "store_failed")) throw error
      say({ type: "asked", chat: id, verb: "load", outcome: error.reason })
      return undefined
    })
    return chat !== undefined
  }, loadMs)
  return chat ?? troupe.chat(id)
}

/** Continues a conversation of an earlier life. */
const revived = async (id: string): Promise<LocalChatRef> => {
  const chat = await loaded(id)
  // A waiting turn may need the decisions about the one before it.
  if (areTrees) chat.subscribe(() => void decide(chat).catch(failed))
  const { phase = "none", partial } = chat.getSnapshot()?.context ?? {}
  say({ type: "revived", chat: id, phase, ...(areTrees ? {} : { partial: partial?.text ?? "" }) })
  if (phase === "interrupted") await retried(chat)
  await decide(chat)
  for (const turn of chat.resume()) {
    await answered(chat, turn)
    await decide(chat)
  }
  return chat
}

/** Waits until the end of each task is in the thread, and its turn is over. */
const atItsEnd = async (chat: LocalChatRef): Promise<void> => {
  await until(async () => {
    await decide(chat)
    return (await chat.tasks()).length === 0 && chat.getSnapshot()?.context.phase === "idle"
  }, Infinity)
}

const workOf = (): string => {
  if (areTrees) return chance() < 0.5 ? works.explores : works.confers
  return chance() < 0.6 ? works.writes : works.talks
}

const converse = async (id: string): Promise<void> => {
  const chat = await revived(id)
  if (last !== undefined) return atItsEnd(chat)
  for (let count = 1; ; count++) {
    const name = `${id}-${life}-${count}`
    const names = areTrees || chance() < 0.7 ? [name] : [`${name}-1`, `${name}-2`]
    const turns = names.map((begun) => {
      const text = `${begun}${workOf()}`
      return { text, turn: chat.send(text, areTrees || chance() < 0.5 ? { id: begun } : {}) }
    })
    for (const { text, turn } of turns) {
      const { status } = await turn.receipt
      if (status === "rejected") throw new Error(`${text} was rejected`)
      say({ type: "sent", chat: id, text, outcome: status })
    }
    for (const { turn } of turns) await answered(chat, turn)
    await decide(chat)
    if (areLong && chance() < 0.1) await answered(chat, chat.compact())
    if (areTrees || chance() >= 0.1) continue
    const to = `${id}/${life}-${count}`
    await store.fork(id, to)
    say({ type: "forked", chat: id, to })
  }
}

/** Kills the program at random, after the store has written and before its caller has the result. */
const deadly = (opened: Store.SessionStore): Store.SessionStore => {
  const accept = opened.accept.bind(opened)
  const append = opened.append.bind(opened)
  const die = (): boolean => process.kill(process.pid, "SIGKILL")
  const accepting: typeof accept = async (id, input, ...more) => {
    const accepted = await accept(id, input, ...more)
    if (chance() >= 0.04) return accepted
    say({ type: "sent", chat: id, text: Message.text(input.message), outcome: "stored" })
    die()
    return accepted
  }
  const appending: typeof append = async (...args) => {
    const record = await append(...args)
    if (chance() < 0.01) die()
    return record
  }
  return Object.assign(opened, { accept: accepting, append: appending })
}

/** Kills the program while a summary streams, after some of its parts. */
const deadlyIn = ({ adapter, ...rest }: ReturnType<typeof workloadOf>): ReturnType<typeof workloadOf> => {
  if (adapter === undefined || kind !== "summary") return { adapter, ...rest }
  let left = Math.ceil(chance() * 12)
  const stream: typeof adapter.stream = async function* (request, options) {
    const isSummary = asksForSummary(request.messages)
    let parts = 0
    for await (const event of await adapter.stream(request, options)) {
      yield event
      if (!isSummary) continue
      parts++
      left--
      // The first one begins the message.
      if (left > 0 || parts === 1) continue
      say({ type: "summarised", parts })
      process.kill(process.pid, "SIGKILL")
    }
  }
  return { adapter: { ...adapter, stream }, ...rest }
}

const store = last === undefined ? deadly(openStore(database)) : openStore(database)
const work = workloadOf({ pauseMs: () => 0.2 + chance() * 1.2, writeMs: 0, asks: () => chance() < 0.4 })
/** Long chats have few tools, so that the declarations leave room in a small bound. */
const few = areLong ? { tools: work.tools?.filter(({ name }) => name === "look" || name === "note") } : {}
const compaction = areLong ? Compaction.make({ maxTokens: 600 }) : undefined
const troupe = await Troupe.start({
  ...deadlyIn({ ...work, ...few }),
  compaction,
  store,
  draftEveryMs: 2,
  maxRestarts: 0
})
say({ type: "ready" })
flushCompileCache()
await Promise.all((areTrees ? ["a", "b"] : ["a", "b", "c", "d"]).map((id) => converse(id).catch(failed)))
await troupe.stop()
await store.close()
