/** The lines of the bench's table, with their limits. */
import type { ContenderName } from "./contenders.ts"
import { keyOf, type Samples } from "./rounds.ts"
import type { Row } from "./table.ts"
import { chats } from "./work/programA.ts"
import type { Quantity } from "./work/timed.ts"

type CostOf = (contender: ContenderName, quantity: Quantity) => number

/** One row of a line; without an aim it is the bound. */
type Figure = readonly [name: string, measure: (cost: CostOf) => number, bound: number, aim?: number]

/** The processor time of a contender, as a multiple of another one's. */
const ratio = (one: ContenderName, base: ContenderName) => (cost: CostOf) => cost(one, "cpuMs") / cost(base, "cpuMs")

/** The processor time of a contender after a rest, as a multiple of that without a rest. */
const afterRest = (name: ContenderName) => (cost: CostOf) => cost(name, "restedMs") / cost(name, "cpuMs")

/** The same, as a multiple of that of pi. */
const restToPi = (name: ContenderName) => (cost: CostOf) => afterRest(name)(cost) / afterRest("pi by turns")(cost)

const peakKb = (name: ContenderName, count: number) => (cost: CostOf) => (cost(name, "peakMb") * 1_000) / count

/** What a chat allocates beside the program's own. */
const allocatedKb = (name: ContenderName) => (cost: CostOf) =>
  cost(name, "allocatedKb") - cost("allocated plain", "allocatedKb")

/** The bound of a figure that has an aim only. */
const unbounded = Infinity

/** The name and the figures of each line, in the order of the table. The key selects a line on the command line. */
export const lines: Readonly<Record<string, readonly [name: string, ...ReadonlyArray<Figure>]>> = {
  A: [
    "A, 1,000 chats, deltas by turns, to pi-agent-core",
    ["Chat.stream", ratio("stream by turns", "pi by turns"), 1, 0.75],
    ["living", ratio("living by turns", "pi by turns"), 1.3, 0.9],
    ["living on SQLite, durability: power", ratio("sqlite by turns", "pi by turns"), 2.3, 1.8]
  ],
  hand: [
    "A, deltas by turns, to a turn by hand",
    ["Chat.stream", ratio("stream by turns", "hand by turns"), unbounded, 1],
    ["living", ratio("living by turns", "living hand by turns"), unbounded, 1]
  ],
  once: [
    "A, deltas at once, to pi-agent-core",
    ["Chat.stream", ratio("stream at once", "pi at once"), 1.1],
    ["living", ratio("living at once", "pi at once"), 1.7]
  ],
  heap: [
    "A, peak heap, kB a chat",
    ["Chat.stream", peakKb("stream by turns", chats), 45, 40],
    ["living", peakKb("living by turns", chats), 55, 50]
  ],
  allocated: [
    "A, allocated beside the program's own, kB a chat",
    ["Chat.stream", allocatedKb("allocated stream"), 100, 80],
    ["living", allocatedKb("allocated living"), 140, 110]
  ],
  delta: [
    "a delta of 50,000, to pi-agent-core",
    ["Chat.stream", ratio("stream delta", "pi delta"), 1],
    ["living, read", ratio("living delta", "pi delta"), 1]
  ],
  rest: [
    "A, deltas by turns, after a rest, to before",
    ["Chat.stream, to pi's own ratio", restToPi("stream by turns"), 1],
    ["living, to pi's own ratio", restToPi("living by turns"), 1],
    ["Chat.stream", afterRest("stream by turns"), unbounded, 1.2],
    ["living", afterRest("living by turns"), unbounded, 1.2]
  ],
  crowd: [
    "crowd of 30,000 with real deadlines",
    ["chats with a failed turn", (cost) => cost("crowd of 30,000", "failed"), 0],
    ["processor time a chat, to crowds of 1,000", ratio("crowd of 30,000", "crowds of 1,000"), 1.2, 1.1],
    ["peak heap, kB a chat", peakKb("crowd of 30,000", 30_000), 45, 30]
  ],
  busy: [
    "a busy chat on PostgreSQL",
    [
      "a turn until 10,000 messages, to until 100",
      (cost) => cost("busy", "turnMs") / cost("busy", "earlyTurnMs"),
      1.1,
      1
    ]
  ],
  counts: [
    "counts of a living chat",
    ["processes", (cost) => cost("counts", "processes"), 9, 6],
    ["promises", (cost) => cost("counts", "promises"), 565, 540]
  ],
  http: ["a turn over HTTP, to bare Node", ["server-sent events", ratio("http troupe", "http bare"), 2.4, 1.8]]
}

/** The rows of the lines with these keys: medians, and of failures the worst. */
export const rowsOf = (keys: ReadonlyArray<string>, results: Samples): ReadonlyArray<Row> => {
  const cost: CostOf = (name, quantity) => results[quantity === "failed" ? "worst" : "median"](keyOf(name, quantity))
  return keys.flatMap((key) => {
    const [title, ...figures] = lines[key] ?? [""]
    return figures.map(([name, measure, bound, aim = bound], index) => ({
      name: (index === 0 ? `${key.padEnd(10)}${title}` : "").padEnd(60) + name,
      measured: measure(cost),
      limit: { bound, aim }
    }))
  })
}

/** The contenders of the lines with these keys, each once. */
export const contendersOf = (keys: ReadonlyArray<string>): ReadonlyArray<ContenderName> => {
  const names = new Set<ContenderName>()
  for (const key of keys) {
    const [, ...figures] = lines[key] ?? [""]
    for (const [, measure] of figures) measure((name) => names.add(name).size)
  }
  return [...names]
}
