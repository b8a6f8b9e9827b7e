/**
 * `pnpm locomo <folder>`: for how many questions about a long conversation a turn of the evidence is in the request, or among the first
 * results of a search; and the same for the last characters and for the cut of LangChain. The folder has the conversations of LoCoMo, one
 * JSON file each, with their questions as `qa`.
 *
 * A request has the last messages alone, because a fake model writes no summary.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { AIMessage, HumanMessage, trimMessages } from "@langchain/core/messages"
import { Fake, Troupe, user } from "@troupe/chat"
import { Compaction } from "@troupe/chat/compaction"
import { Message, Thread } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { sqlite } from "@troupe/store"
import { messageTokens } from "../../packages/chat/src/compaction/estimate.ts"

interface Turn {
  readonly speaker: string
  readonly dia_id: string
  readonly text: string
  readonly blip_caption?: string
}

interface Question {
  readonly question: string
  readonly evidence?: ReadonlyArray<string>
}

/** The turns of a conversation, in order. */
const turnsOf = (conversation: Readonly<Record<string, unknown>>): ReadonlyArray<Turn> => {
  const turns: Array<Turn> = []
  for (let session = 1; conversation[`session_${session}`] !== undefined; session++) {
    turns.push(...(conversation[`session_${session}`] as ReadonlyArray<Turn>))
  }
  return turns
}

const bounds = [4_000, 8_000]
const first = 5

const tokensIn = (messages: Thread.Thread["messages"]): number =>
  messages.reduce((sum, message) => sum + messageTokens(message), 0)

/** How many of the last messages a request has. */
type Cut = (thread: Thread.Thread, maxTokens: number) => number | Promise<number>

/** All count with the same estimate. A window of a number of messages has one for each 40 tokens. */
const cuts: Readonly<Record<string, Cut>> = {
  compaction: (thread, maxTokens) => {
    const strategies = [Compaction.window({ keepTokens: maxTokens * 0.99 })]
    const compactor = Compaction.make({ maxTokens, at: 1, goal: 0.99, strategies })
    const plan = compactor.plan({ thread, tools: [] }, {})
    return thread.messages.length - (plan.type === "compacted" ? plan.compaction.upTo : 0)
  },
  "the last messages": (_, maxTokens) => maxTokens / 40,
  "trimMessages of LangChain": async ({ messages }, maxTokens) => {
    const said = messages.map((message) => {
      const content = Message.text(message)
      return message.role === "user" ? new HumanMessage({ content }) : new AIMessage({ content })
    })
    const tokenCounter = (list: ReadonlyArray<{ readonly content: unknown }>) =>
      tokensIn(list.map(({ content }) => user(String(content))))
    return (await trimMessages(said, { maxTokens, tokenCounter, strategy: "last", startOn: "human" })).length
  }
}

const folder = process.argv[2]
if (folder === undefined) throw new Error("Give the folder with the conversations of LoCoMo: pnpm locomo <folder>")

const counts = { questions: 0, turns: 0, searched: 0 }
const rows = bounds.flatMap((bound) =>
  Object.entries(cuts).map(([name, cut]) => ({ bound, name, cut, sent: 0, either: 0, most: 0 }))
)
for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
  const { qa, ...conversation } = JSON.parse(readFileSync(join(folder, file), "utf8")) as {
    readonly qa: ReadonlyArray<Question>
  } & Readonly<Record<string, unknown>>
  const turns = turnsOf(conversation)
  counts.turns += turns.length
  const said = turns.map(({ speaker, text, blip_caption: shown }) => {
    const whole = `${speaker}: ${text}${shown === undefined ? "" : ` [${shown}]`}`
    return speaker === conversation["speaker_a"] ? user(whole) : Message.assistant(whole)
  })
  const thread = Thread.from(said)
  const store = sqlite(":memory:")
  await store.append("c", [Store.saved({ ...Store.blank("c"), thread })])
  const troupe = await Troupe.start({ adapter: Fake.make({ script: [] }), store })
  const cutAt = await Promise.all(rows.map(async ({ cut, bound }) => turns.length - (await cut(thread, bound))))
  rows.forEach((row, at) => (row.most = Math.max(row.most, tokensIn(said.slice(cutAt[at])))))
  for (const { question, evidence = [] } of qa) {
    const ids = new Set(evidence.flatMap((id) => id.split(/[;, ]+/)))
    const places = turns.flatMap(({ dia_id: id }, place) => (ids.has(id) ? [place] : []))
    const found = (await troupe.search({ query: question, chat: "c", limit: first })).map(({ place }) => place)
    const isFound = places.some((place) => found.includes(place))
    counts.questions++
    if (isFound) counts.searched++
    rows.forEach((row, at) => {
      const isSent = places.some((place) => place >= (cutAt[at] ?? 0))
      if (isSent) row.sent++
      if (isSent || isFound) row.either++
    })
  }
  await troupe.stop()
}

const share = (count: number): string => `${((100 * count) / counts.questions).toFixed(1)} %`
console.log(`${counts.turns} turns, ${counts.questions} questions`)
console.log(`a turn of the evidence is among the first ${first} of a search: ${share(counts.searched)}`)
for (const { bound, name, sent, either, most } of rows)
  console.log(
    `${bound} tokens, ${name}, at most ${most}: in the request ${share(sent)}, there or in the search ${share(either)}`
  )
