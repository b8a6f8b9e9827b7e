/**
 * `node tree.ts <database> <journal> <seed> <life> [last]`: trees of agents that run until the program is killed.
 *
 * A coordinator gives a task to two researchers, and each of them gives one to a digger. Researchers and diggers have a tool that writes:
 * it appends its idempotency keys to the journal. Coordinators also have a tool that works in the background. Some calls of diggers wait for a person, who decides at the root. With `last` the program
 * sends no inputs, and ends when every chat is over.
 */
import { appendFileSync } from "node:fs"
import { setTimeout } from "node:timers/promises"
import { type LocalChatRef, Fake, type RunningTroupe, tool, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { SessionError } from "@troupe/chat/errors"
import { Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import { chanceOf } from "../soak/chance.ts"
import { deadly } from "./deadly.ts"
import { answered, say } from "./output.ts"
import { openStore } from "./stores.ts"

const [database = "", journal = "", seed = "1", life = "1", last] = process.argv.slice(2)
const chats = ["a", "b"]

const chance = chanceOf(Number(seed) * 10_007 + Number(life))

type Call = readonly [name: string, task?: string]

/** An agent that makes these calls for each input, and then answers. */
const agentOf = (agent: string, callsFor: (input: string) => ReadonlyArray<Call>, answer: string) =>
  Fake.make({
    respond: ({ messages }: Request): Fake.Script => {
      say({ type: "asked", agent })
      const at = messages.findLastIndex(({ role }) => role === "user")
      const asked = messages[at]
      const input = asked === undefined ? "nothing" : Message.text(asked)
      const wait = { delayMs: 1 + chance() * 6 }
      if (at < messages.length - 1 || callsFor(input).length === 0)
        return [wait, { text: `${answer} ${input}.` }, { finish: "stop" }]
      const calls = callsFor(input).map(([name, task]) => ({
        toolCall: { id: `${name} ${task ?? input}`, name, arguments: task === undefined ? {} : { input: task } }
      }))
      return [{ text: `So you say ${input}. ` }, wait, ...calls, { finish: "tool_calls" }]
    }
  })

const note = tool({
  name: "note",
  execute: (_, { idempotencyKey, toolCall }) => {
    appendFileSync(journal, `${JSON.stringify([idempotencyKey, toolCall.id])}\n`)
    return "noted"
  }
})

/** Works in the background. Its end is an input of the coordinator. */
const survey = tool({
  name: "survey",
  background: true,
  onUnknown: "retry",
  execute: async () => {
    await setTimeout(1 + chance() * 60)
    return "done"
  }
})

/** The end of a task needs no calls. */
const coordinated = (input: string): ReadonlyArray<Call> =>
  input.startsWith("The background task") ? [] : [["survey"], ["research", `${input}.1`], ["research", `${input}.2`]]

const agents: Agents = {
  coordinator: {
    adapter: agentOf("coordinator", coordinated, "The answer to"),
    tools: [Agents.subagent("research"), survey]
  },
  research: {
    adapter: agentOf("research", (input) => [["note"], ["dig", `${input}.d`]], "Found"),
    tools: [note, Agents.subagent("dig")]
  },
  dig: {
    adapter: agentOf("dig", () => [["note"]], "Dug"),
    tools: [note],
    permissions: { ask: () => (chance() < 0.4 ? "suspend" : "allow") }
  }
}

/** The decisions of each chat that are being made. */
const deciding = new Map<string, Promise<void>>()

/** Decides about everything that waits. */
const decide = (chat: LocalChatRef): Promise<void> => {
  const known = deciding.get(chat.id)
  if (known !== undefined) return known
  const made = decideAll(chat).finally(() => deciding.delete(chat.id))
  deciding.set(chat.id, made)
  return made
}

/** Of a call whose outcome is unknown a person knows what it did. */
const decideAll = async (chat: LocalChatRef): Promise<void> => {
  for (;;) {
    const { phase, pendingApprovals = [] } = chat.getSnapshot()?.context ?? {}
    if (phase !== "awaitingApproval") return
    for (const { toolCall, kind } of pendingApprovals) {
      const isAllowed = kind === "permission"
      await answered(
        chat,
        chat.approve(toolCall.id, isAllowed ? { type: "allow" } : { type: "result", value: "looked after" })
      )
      if (isAllowed) say({ type: "allowed", chat: chat.id, call: toolCall.id.split("/~/").at(-1) ?? "" })
    }
  }
}

/** Retries a turn. The end of a background task may have continued it before, and its calls then wait. */
const retried = async (chat: LocalChatRef): Promise<void> => {
  try {
    await answered(chat, chat.retry())
  } catch (error) {
    if (!(error instanceof SessionError && error.reason === "awaiting_approval")) throw error
  }
}

/** Continues the tree of an earlier life. */
const continued = async (troupe: RunningTroupe, id: string): Promise<LocalChatRef> => {
  const chat = await troupe.chat(id)
  // A waiting turn may need the decisions about the one before it.
  chat.subscribe(() => void decide(chat).catch((error: unknown) => say({ type: "wrong", what: String(error) })))
  const phase = chat.getSnapshot()?.context.phase ?? "none"
  say({ type: "continued", chat: id, phase })
  if (phase === "interrupted") await retried(chat)
  await decide(chat)
  for (const turn of chat.resume()) {
    await answered(chat, turn)
    await decide(chat)
  }
  return chat
}

/** Waits until the end of each task is in the thread, and its turn is over. */
const settled = async (chat: LocalChatRef): Promise<void> => {
  for (;;) {
    await decide(chat)
    const tasks = await chat.tasks()
    const { phase } = chat.getSnapshot()?.context ?? {}
    if (tasks.length === 0 && phase === "idle") return
    await setTimeout(10)
  }
}

const converse = async (troupe: RunningTroupe, id: string): Promise<void> => {
  const chat = await continued(troupe, id)
  if (last === "last") return settled(chat)
  for (let count = 1; ; count++) {
    const input = `${id}-${life}-${count}`
    const turn = chat.send(input, { id: input })
    const { status } = await turn.receipt
    if (status === "rejected") throw new Error(`${input} was rejected`)
    say({ type: "accepted", chat: id, input })
    await answered(chat, turn)
    await decide(chat)
  }
}

const opened = openStore(database)
const store = last === undefined ? deadly(opened, chance) : opened
const troupe = await Troupe.start({ store, agents, agent: "coordinator", draftEveryMs: 2, maxRestarts: 0 })
say({ type: "ready" })
await Promise.all(
  chats.map((id) => converse(troupe, id).catch((error: unknown) => say({ type: "wrong", what: String(error) })))
)
await troupe.stop()
await opened.close()
