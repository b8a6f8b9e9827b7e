/**
 * `pnpm locomo <folder>`: for how many questions about a long conversation a turn of the evidence is in the request, or among the first
 * results of a search. The folder has the conversations of LoCoMo, one JSON file each, with their questions as `qa`.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Fake, Troupe, user } from "@troupe/chat"
import { Compaction } from "@troupe/chat/compaction"
import { Message, Thread } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { sqlite } from "@troupe/store"

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

/** The places of the messages that a request of this bound has. */
const sentPlaces = (thread: Thread.Thread, maxTokens: number): ReadonlySet<number> => {
  const compactor = Compaction.make({
    maxTokens,
    at: 0.99,
    goal: 0.95,
    strategies: [Compaction.window({ keepTokens: maxTokens * 0.95 })]
  })
  const plan = compactor.plan({ thread, tools: [] }, {})
  const upTo = plan.type === "compacted" ? plan.compaction.upTo : 0
  return new Set(Array.from(thread.messages.keys()).filter((place) => place >= upTo))
}

const folder = process.argv[2]
if (folder === undefined) throw new Error("Give the folder with the conversations of LoCoMo: pnpm locomo <folder>")

const counts = { questions: 0, turns: 0, searched: 0, sent: bounds.map(() => 0), either: bounds.map(() => 0) }
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
  const windows = bounds.map((bound) => sentPlaces(thread, bound))
  for (const { question, evidence = [] } of qa) {
    const ids = new Set(evidence.flatMap((id) => id.split(/[;, ]+/)))
    const places = turns.flatMap(({ dia_id: id }, place) => (ids.has(id) ? [place] : []))
    const found = (await troupe.search({ query: question, chat: "c", limit: first })).map(({ place }) => place)
    const isFound = places.some((place) => found.includes(place))
    counts.questions++
    if (isFound) counts.searched++
    windows.forEach((sent, at) => {
      const isSent = places.some((place) => sent.has(place))
      if (isSent) counts.sent[at] = (counts.sent[at] ?? 0) + 1
      if (isSent || isFound) counts.either[at] = (counts.either[at] ?? 0) + 1
    })
  }
  await troupe.stop()
}

const share = (count = 0): string => `${((100 * count) / counts.questions).toFixed(1)} %`
console.log(`${counts.turns} turns, ${counts.questions} questions`)
console.log(`a turn of the evidence is among the first ${first} of a search: ${share(counts.searched)}`)
bounds.forEach((bound, at) =>
  console.log(
    `${bound} tokens: in the request ${share(counts.sent[at])}, there or in the search ${share(counts.either[at])}`
  )
)
