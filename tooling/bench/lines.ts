/** The lines of the bench's table. */
import { type Limit, limits } from "./bounds.ts"
import type { ContenderName } from "./contenders.ts"
import type { Results } from "./rounds.ts"
import { chats } from "./work/programA.ts"
import type { Quantity } from "./work/timed.ts"

/** One measured figure, from the results of its contenders. */
interface Measure {
  readonly contenders: ReadonlyArray<ContenderName>
  readonly of: (results: Results) => number
}

/** One row of a line. */
interface Figure {
  readonly name: string
  readonly measure: Measure
  readonly limit: Limit
}

/** One line; `key` selects it on the command line. */
export interface Line {
  readonly key: string
  readonly name: string
  readonly figures: ReadonlyArray<Figure>
}

/** The median processor time of a contender as a multiple of another one's. */
const ratio = (contender: ContenderName, base: ContenderName): Measure => ({
  contenders: [base, contender],
  of: (results) => results.median(contender, "cpuMs") / results.median(base, "cpuMs")
})

/** A quantity of a contender, times a factor. */
const quantity = (contender: ContenderName, measured: Quantity, factor = 1): Measure => ({
  contenders: [contender],
  of: (results) => results.median(contender, measured) * factor
})

const few = 1_000
const many = 10_000

const crowdGrowth: Measure = {
  contenders: ["crowd of 1,000", "crowd of 10,000"],
  of: (results) => (ratio("crowd of 10,000", "crowd of 1,000").of(results) * few) / many
}

const definitionsToNone: Measure = {
  contenders: ["allocated", "allocated with definitions"],
  of: (results) =>
    results.median("allocated with definitions", "allocatedKb") / results.median("allocated", "allocatedKb")
}

const kbAChat = 1_000 / chats

/** All lines, in the order of the table. */
export const lines: ReadonlyArray<Line> = [
  {
    key: "A",
    name: "A, 1,000 chats, deltas by turns, to plain",
    figures: [
      { name: "Chat.stream", measure: ratio("stream by turns", "plain by turns"), limit: limits.turnsStream },
      { name: "living", measure: ratio("living by turns", "plain by turns"), limit: limits.turnsLiving }
    ]
  },
  {
    key: "once",
    name: "A, deltas at once, to plain",
    figures: [
      { name: "Chat.stream", measure: ratio("stream at once", "plain at once"), limit: limits.onceStream },
      { name: "living", measure: ratio("living at once", "plain at once"), limit: limits.onceLiving }
    ]
  },
  {
    key: "pi",
    name: "A, deltas by turns, to pi-agent-core",
    figures: [
      { name: "Chat.stream", measure: ratio("stream by turns", "pi by turns"), limit: limits.piStream },
      { name: "living", measure: ratio("living by turns", "pi by turns"), limit: limits.piLiving }
    ]
  },
  {
    key: "heap",
    name: "A, peak heap, kB a chat",
    figures: [
      { name: "Chat.stream", measure: quantity("stream by turns", "peakMb", kbAChat), limit: limits.heapStream },
      { name: "living", measure: quantity("living by turns", "peakMb", kbAChat), limit: limits.heapLiving }
    ]
  },
  {
    key: "crowd",
    name: "crowd of 10,000",
    figures: [
      { name: "processor time a chat, to 1,000", measure: crowdGrowth, limit: limits.crowdGrowth },
      { name: "peak heap, MB", measure: quantity("crowd of 10,000", "peakMb"), limit: limits.crowdHeap }
    ]
  },
  {
    key: "delta",
    name: "a delta of 50,000, to plain",
    figures: [
      { name: "Chat.stream", measure: ratio("stream delta", "plain delta"), limit: limits.deltaStream },
      { name: "living, read", measure: ratio("living delta", "plain delta"), limit: limits.deltaLiving }
    ]
  },
  {
    key: "parts",
    name: "a reply of 200 mixed parts, to plain",
    figures: [{ name: "Chat.stream", measure: ratio("stream parts", "plain parts"), limit: limits.partsStream }]
  },
  {
    key: "subagents",
    name: "a sub-agent turn, to two plain chats",
    figures: [{ name: "living", measure: ratio("subagents", "two chats"), limit: limits.subagents }]
  },
  {
    key: "counts",
    name: "counts of a living chat",
    figures: [
      { name: "processes", measure: quantity("counts", "processes"), limit: limits.processes },
      { name: "XState actors", measure: quantity("counts", "actors"), limit: limits.actors },
      { name: "promises", measure: quantity("counts", "promises"), limit: limits.promises }
    ]
  },
  {
    key: "sqlite",
    name: "A, living on SQLite, to plain",
    figures: [{ name: "durability: power", measure: ratio("sqlite by turns", "plain by turns"), limit: limits.sqlite }]
  },
  {
    key: "allocated",
    name: "allocated kB a living chat",
    figures: [
      { name: "living", measure: quantity("allocated", "allocatedKb"), limit: limits.allocated },
      { name: "2,000 idle agents, to none", measure: definitionsToNone, limit: limits.definitions }
    ]
  },
  {
    key: "http",
    name: "a turn over HTTP, to bare Node",
    figures: [{ name: "server-sent events", measure: ratio("http troupe", "http bare"), limit: limits.http }]
  },
  {
    key: "import",
    name: "import of built chat, to its peers",
    figures: [{ name: "@troupe/chat", measure: ratio("import of chat", "import of peers"), limit: limits.imported }]
  }
]

/** The contenders of some lines, each once. */
export const contendersOf = (chosen: ReadonlyArray<Line>): ReadonlyArray<ContenderName> => [
  ...new Set(chosen.flatMap(({ figures }) => figures.flatMap(({ measure }) => measure.contenders)))
]
