/**
 * A long conversation with compaction and sub-agents, through the real package of each provider, over a double that refuses what its API refuses.
 *
 * **Details**: `pnpm test` runs a short conversation; with `TROUPE_VOLUME=full` it has 2,000 turns.
 */
import { askUser, Fake, type LocalChatRef, tool, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Compaction } from "@troupe/chat/compaction"
import { Message } from "@troupe/chat/messages"
import type { LiveTurn } from "@troupe/chat/chats"
import { Clock, System } from "@troupe/otp"
import { expect, test } from "vitest"
import { z } from "zod"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import type { Json } from "../loopback/refusals.ts"
import { type Scripted, type ScriptedCall, speeches, strictProvider } from "../loopback/strictProvider.ts"

const turns = process.env["TROUPE_VOLUME"] === "full" ? 2_000 : 50
const maxTokens = 6_000
const summary = "Goal: a long talk."
const noteBegin = "[A note of the program"

const randomOf = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 4_294_967_296
  }
}

/** The messages as they are sent, without the note at their end. */
const sentText = (messages: ReadonlyArray<Json>): string => {
  const isNote = (part: unknown) => JSON.stringify(part).includes(noteBegin)
  const last = messages.at(-1) ?? {}
  if (!isNote(last)) return messages.map((message) => JSON.stringify(message)).join("\n")
  const key = "parts" in last ? "parts" : "content"
  const parts = last[key]
  const rest = Array.isArray(parts) ? parts.filter((part) => !isNote(part)) : []
  // Behind results, Mistral has a message of the assistant before the note (FOREIGN3).
  const isBetween = messages.at(-3)?.["role"] === "tool" && messages.at(-2)?.["role"] === "assistant"
  return [...messages.slice(0, isBetween ? -2 : -1), ...(rest.length > 0 ? [{ ...last, [key]: rest }] : [])]
    .map((message) => JSON.stringify(message))
    .join("\n")
}

/** What has been seen of the requests. */
interface Seen {
  requests: number
  summaries: number
  approvals: number
  questions: number
  changes: number
  compactions: number
  readonly lost: Array<string>
}

/** A model that calls tools at random, several at once, and keeps what is wrong with its requests. */
const talker = (random: () => number, seen: Seen) => {
  let before = ""
  let steps = 0
  let input = ""
  let question = ""
  const call = (): ScriptedCall => {
    const chance = random()
    if (chance < 0.08) return { name: "pay", arguments: { amount: Math.floor(random() * 100) } }
    if (chance < 0.14) return { name: "plan", arguments: { plan: `step ${seen.requests}` } }
    if (chance < 0.19) return { name: "helper", arguments: { input: `part ${seen.requests}` } }
    return { name: "look", arguments: { size: Math.ceil(10 ** (1 + 5 * random() ** 2)) } }
  }
  const answer = (messages: ReadonlyArray<Json>, text: string): Scripted => {
    if (text.includes("Write the summary.")) {
      seen.summaries++
      return random() < 0.1 ? " " : summary
    }
    seen.requests++
    const sent = sentText(messages)
    if (!sent.startsWith(before)) seen.changes++
    before = sent
    if (!text.includes(input)) seen.lost.push(input)
    if (!text.includes(question)) seen.lost.push(question)
    question = ""
    if (steps-- <= 0) return `well ${"said ".repeat(Math.ceil(random() * 60))}`
    if (random() < 0.06) return [{ name: "ask", arguments: { about: `question ${seen.requests}` } }]
    return Array.from({ length: 1 + Math.floor(random() * 4) }, call)
  }
  /** Begins a turn: its requests must have the input, and the first one the question that the input answers. */
  const begin = (said: string, asked = "") => {
    input = said
    question = asked
    steps = Math.floor(random() * 4)
  }
  return { answer, begin }
}

/** The requests of a chat that are larger than the bound, by the estimate. */
const bounded = (adapter: ReturnType<typeof aiSdk>) => {
  const judge = Compaction.make({ maxTokens: maxTokens + 1, at: 1 })
  const large: Array<number> = []
  const stream: typeof adapter.stream = (request, options) => {
    const instructions = request.messages.flatMap((message) => (message.role === "system" ? [message.content] : []))[0]
    const messages = request.messages.filter(({ role }) => role !== "system")
    if (judge.isDue({ thread: { messages } }, { instructions, tools: request.tools })) large.push(messages.length)
    return adapter.stream(request, options)
  }
  return { adapter: { ...adapter, stream }, large }
}

const tools = [
  tool({
    name: "look",
    effect: "read",
    parameters: z.object({ size: z.number() }),
    execute: ({ size }) => "x y ".repeat(Math.ceil(size / 4)).slice(0, size)
  }),
  tool({ name: "pay", parameters: z.object({ amount: z.number() }), execute: ({ amount }) => `paid ${amount}` }),
  Agents.subagent("helper"),
  tool({ name: "ask", parameters: z.object({ about: z.string() }), execute: ({ about }) => askUser(about) }),
  Compaction.plan()
]

/** Reads a turn to its end, and decides about its calls. */
const follow = async (chat: LocalChatRef, turn: LiveTurn, seen: Seen): Promise<void> => {
  for await (const event of turn) if (event.type === "thread_compacted") seen.compactions++
  const { haltedReason, metadata } = await turn.result()
  if (haltedReason === "error") throw metadata["error"]
  const asked = chat.getSnapshot()?.context.pendingApprovals ?? []
  if (asked.length === 0) return
  seen.approvals += asked.length
  const decisions = Object.fromEntries(
    asked.map(({ toolCall }, at) => [toolCall.id, { type: at === 0 ? ("allow" as const) : ("deny" as const) }])
  )
  await follow(chat, chat.answer({ decisions }), seen)
}

const names = Object.keys(speeches) as ReadonlyArray<keyof typeof speeches>

test.each(names)(
  "PREFIX1, PREFIX2, WHOLE1, CONTEXT1, SAFE1: %s refuses no request of a long conversation with results of 10 bytes to 1 MB",
  async (name) => {
    const random = randomOf(names.indexOf(name) + 1)
    const seen: Seen = { requests: 0, summaries: 0, approvals: 0, questions: 0, changes: 0, compactions: 0, lost: [] }
    const { answer, begin } = talker(random, seen)
    const provider = strictProvider(name, answer)
    const { adapter, large } = bounded(aiSdk(provider.model))
    const system = System.make({ name: "long", clock: Clock.test() })
    const troupe = await Troupe.start({
      adapter,
      tools,
      system,
      instructions: "Be brief.",
      compaction: Compaction.make({ maxTokens }),
      agents: {
        helper: { adapter: Fake.make({ respond: () => [{ text: "I looked." }, { finish: "stop" }] }), tools: [] }
      },
      permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") }
    })
    const chat = await troupe.chat("a")
    for (let turn = 0; turn < turns; turn++) {
      const input = `input ${turn}:`
      const question = chat.getSnapshot()?.context.pendingQuestion?.question
      if (question !== undefined) seen.questions++
      begin(input, question)
      await follow(chat, chat.send(`${input} ${"word ".repeat(Math.ceil(random() * 80))}`), seen)
    }
    expect([provider.refused, large, seen.lost]).toEqual([[], [], []])
    // A compaction that only shortens the results since the last request leaves its messages as they were.
    expect(seen.changes).toBeLessThanOrEqual(seen.compactions)
    const helped = chat.thread.messages.filter((message) => Message.text(message).includes("I looked."))
    const counts = [seen.summaries, seen.approvals, seen.questions, seen.compactions, helped.length]
    expect(Math.min(...counts)).toBeGreaterThan(0)
    expect(chat.thread.messages.length).toBeGreaterThan(2 * turns)
    await troupe.stop()
    await System.stop(system)
  },
  600_000
)
