/** The lines of the bench's table, with their limits. */
import type { ContenderName } from "./contenders.ts"
import { keyOf, type Samples } from "./rounds.ts"
import type { Limit } from "./verdict.ts"
import { chats } from "./work/programA.ts"
import type { Quantity } from "./work/timed.ts"

/** One measured figure, from the results of its contenders. */
interface Measure {
  readonly contenders: ReadonlyArray<ContenderName>
  readonly of: (results: Samples) => number
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

/** A quantity of a contender, by default processor time, as a multiple of another one's. */
const ratio = (one: ContenderName, base: ContenderName, measured: Quantity = "cpuMs", factor = 1): Measure => ({
  contenders: [base, one],
  of: (results) => (results.median(keyOf(one, measured)) / results.median(keyOf(base, measured))) * factor
})

/** A quantity of a contender, times a factor. */
const quantity = (contender: ContenderName, measured: Quantity, factor = 1): Measure => ({
  contenders: [contender],
  of: (results) => results.median(keyOf(contender, measured)) * factor
})

const figure = (name: string, measure: Measure, bound: number, aim: number): Figure => ({
  name,
  measure,
  limit: { bound, aim }
})

const kbAChat = 1_000 / chats

/**
 * The name and the figures of each line, by its key; the last numbers of a figure are its bound and its aim.
 *
 * The limits of by turns, at once, pi, heap, the heap of the crowd, SQLite, allocated, HTTP and import are measured
 * figures: medians of several runs, whose plain program varies by a third. A profile of a living chat has no large part to remove: collection of garbage
 * is a fifth of the main thread, the transitions of the charts an eighth, timers and promises of the host a seventh, and
 * no function has more than a twentieth.
 *
 * A sub-agent turn was measured from 1.15 to 1.46: beside two turns it has a supervisor, the record of the child with its parent, and a
 * budget that is counted over both. A Troupe with agents keeps what each chat and its children spend: 4 kB a chat, however many agents there are.
 *
 * Of `Chat.stream` by turns, five sixths are the fixed cost of a chat: two steps, two tool calls in fibers, and their processes.
 * A delta takes 2.6 µs beside some 3 µs of the plain program: one promise for its reader, and the checks of its size. The
 * agents of pi have no process for each call, and no fibers.
 */
const rows: Readonly<Record<string, readonly [name: string, ...ReadonlyArray<Figure>]>> = {
  A: [
    "A, 1,000 chats, deltas by turns, to plain",
    figure("Chat.stream", ratio("stream by turns", "plain by turns"), 3.7, 2),
    figure("living", ratio("living by turns", "plain by turns"), 7.3, 2.5)
  ],
  once: [
    "A, deltas at once, to plain",
    figure("Chat.stream", ratio("stream at once", "plain at once"), 11.6, 5),
    figure("living", ratio("living at once", "plain at once"), 21, 6)
  ],
  pi: [
    "A, deltas by turns, to pi-agent-core",
    figure("Chat.stream", ratio("stream by turns", "pi by turns"), 1.2, 0.7),
    figure("living", ratio("living by turns", "pi by turns"), 2.2, 0.9)
  ],
  heap: [
    "A, peak heap, kB a chat",
    figure("Chat.stream", quantity("stream by turns", "peakMb", kbAChat), 79, 40),
    figure("living", quantity("living by turns", "peakMb", kbAChat), 91, 50)
  ],
  crowd: [
    "crowd of 10,000",
    figure("processor time a chat, to 1,000", ratio("crowd of 10,000", "crowd of 1,000", "cpuMs", 0.1), 1.2, 1.1),
    figure("peak heap, MB", quantity("crowd of 10,000", "peakMb"), 890, 300)
  ],
  delta: [
    "a delta of 50,000, to plain",
    figure("Chat.stream", ratio("stream delta", "plain delta"), 9, 6),
    figure("living, read", ratio("living delta", "plain delta"), 10, 7)
  ],
  parts: ["a reply of 200 mixed parts, to plain", figure("Chat.stream", ratio("stream parts", "plain parts"), 100, 50)],
  subagents: ["a sub-agent turn, to two plain chats", figure("living", ratio("subagents", "two chats"), 1.5, 1.2)],
  counts: [
    "counts of a living chat",
    figure("processes", quantity("counts", "processes"), 9, 6),
    figure("XState actors", quantity("counts", "actors"), 0, 0),
    figure("promises", quantity("counts", "promises"), 565, 540)
  ],
  sqlite: [
    "A, living on SQLite, to plain",
    figure("durability: power", ratio("sqlite by turns", "plain by turns"), 14.5, 4)
  ],
  allocated: [
    "allocated kB a living chat",
    figure("living", quantity("allocated", "allocatedKb"), 288, 130),
    figure("2,000 idle agents, to none", ratio("allocated with definitions", "allocated", "allocatedKb"), 1.03, 1)
  ],
  http: ["a turn over HTTP, to bare Node", figure("server-sent events", ratio("http troupe", "http bare"), 2.8, 1.8)],
  import: [
    "import of built chat, to its peers",
    figure("@troupe/chat", ratio("import of chat", "import of peers"), 1.5, 1.2)
  ]
}

/** The lines in the order of the table. */
export const lines: ReadonlyArray<Line> = Object.entries(rows).map(([key, [name, ...figures]]) => ({
  key,
  name,
  figures
}))

/** The contenders of some lines, each once. */
export const contendersOf = (chosen: ReadonlyArray<Line>): ReadonlyArray<ContenderName> => [
  ...new Set(chosen.flatMap(({ figures }) => figures.flatMap(({ measure }) => measure.contenders)))
]
