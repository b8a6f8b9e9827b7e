import { it } from "@effect/vitest"
import { Schema } from "effect"
import { expect, test } from "vitest"
import { type Access, type CallMark, inHaltOrder, next, type OrderedCall } from "../../src/batch/nextCalls.ts"
import type { Schedule } from "../../src/options/ChatOptions.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

/** The states of calls in short. */
const states = {
  "": { state: "new", mark: undefined },
  gating: { state: "new", mark: "gating" },
  decided: { state: "decided", mark: undefined },
  starting: { state: "intended", mark: "starting" },
  running: { state: "intended", mark: "running" },
  cancelling: { state: "new", mark: "cancelling" },
  restarting: { state: "new", mark: "restarting" },
  following: { state: "new", mark: "following" },
  waiting: { state: "waiting", mark: undefined },
  asking: { state: "waiting", mark: "asking" },
  over: { state: "done", mark: undefined },
  leaving: { state: "done", mark: "starting" },
  halted: { state: "done", mark: undefined, halts: "halt" },
  asked: { state: "done", mark: undefined, halts: "question" },
  manual: { state: "manual", mark: undefined }
} as const satisfies Record<string, OrderedCall>

type Word = keyof typeof states

/** Accesses in short: `r` and `w` without a key, `ra` and `wb` with one, `-` for none. */
const accessOf = (word: string): Access | undefined =>
  word === "-"
    ? undefined
    : { effect: word.startsWith("r") ? "read" : "write", ...(word.length > 1 ? { key: word.slice(1) } : {}) }

interface Rules {
  readonly schedule?: Schedule
  readonly limit?: number
  readonly stopped?: "cancelled" | "not_started"
}

/** The moves of calls in short: `wa running, r` is a call that runs, and one that has not begun. */
const movesOf = (line: string, { schedule = "effects", limit = 100, stopped }: Rules = {}): string => {
  const words = line.split(", ").map((word) => word.split(" "))
  const calls = words.map(([, state = ""]) => states[state as Word])
  const accesses = words.map(([access = "-"]) => accessOf(access))
  const { starts, skips, isOver } = next(calls, accesses, { schedule, limit, stopped })
  return [`start ${starts}`, `skip ${skips}`, isOver ? "over" : ""].filter((part) => !/ $|^$/.test(part)).join("; ")
}

test.each<[string, string, string, Rules?]>([
  ["SCHED1 reads run together", "r, ra, rb, r", "start 0,1,2,3"],
  ["SCHED1 writes without a key run one after another", "w, w, w", "start 0"],
  ["SCHED1 the next write starts when the one before is over", "w over, w, w", "start 1"],
  ["SCHED1 writes of equal keys never overlap; those of different keys may", "wa, wb, wa, wb", "start 0,1"],
  ["SCHED1 a read behind a write of its key waits, one of another key does not", "wa running, ra, rb, r", "start 2"],
  ["SCHED1 a read behind a write without a key waits", "w running, ra, r", ""],
  ["SCHED1 a write waits for an earlier read without a key", "r running, wa", ""],
  ["SCHED1 a write waits for an earlier read of its key only", "ra running, wa, wb, w", "start 2"],
  ["SCHED1 a call without an access conflicts with none", "w running, -, w", "start 1"],
  ["SCHED1 a call that has begun never starts again", "r running, r starting, r following, r over", ""],
  ["SCHED1 a call that waits for an answer holds up no other call", "w waiting, w asking, w", "start 2"],
  ["SCHED1 a decided call starts as a new one; one that the caller answers does not", "r decided, r manual", "start 0"],
  ["SCHED1 a call that is cancelled or restarted holds up others until it ends", "w cancelling, w", ""],
  ["SCHED1 a call whose hooks run holds up others until it ends", "w following, w", ""],
  ["SCHED1 a call that the gate judges holds its place in the order", "w gating, w", "start 0"],
  ["SCHED2 writes run first, one after another", "r, wa, ra, wb, w", "start 1", { schedule: "reference" }],
  ["SCHED2 then the reads run together", "r, w over, ra, w over", "start 0,2", { schedule: "reference" }],
  ["SCHED2 reads wait for a write that runs", "r, w running, r", "", { schedule: "reference" }],
  ["SCHED3 nothing waits", "w, w, ra, wa", "start 0,1,2,3", { schedule: "concurrent" }],
  ["SCHED7 at most `limit` calls have a place", "r running, r, r, r", "start 1,2", { limit: 3 }],
  ["SCHED7 a skipped call keeps its place while it starts", "w leaving, w", "", { limit: 1 }],
  ["SCHED7 no other call waits for a skipped call that starts", "w leaving, w", "start 1", { limit: 2 }],
  ["SCHED7 a call whose sub-agent waits has no place", "r asking, r", "start 1", { limit: 1 }],
  ["SCHED7 without a place nothing starts", "r, w", "", { limit: 0 }],
  [
    "SCHED8 a halt skips the later calls that have not begun",
    "w, w halted, w, r starting, r waiting",
    "start 0; skip 2,3,4"
  ],
  ["SCHED8 a halt cancels no running call", "w halted, r running, r cancelling, r asking", ""],
  ["SCHED8 a question skips no call", "w asked, w", "start 1"],
  ["SCHED8 a halt skips earlier calls too", "r, w halted, r", "skip 0,2; over", { schedule: "reference" }],
  ["SCHED8 a halt skips no call", "w halted, w", "start 1", { schedule: "concurrent" }],
  [
    "SCHED8 after a stop each call that has not begun is skipped",
    "w, r running, r waiting, r asking",
    "skip 0,2",
    { stopped: "not_started" }
  ],
  [
    "SCHED8 after a cancel a call whose sub-agent waits is skipped",
    "w, r waiting, r asking",
    "skip 0,1,2; over",
    { stopped: "cancelled" }
  ],
  ["a batch is over when every call is over or waits", "r over, w waiting, w asking, w leaving, w manual", "over"],
  ["a batch without calls is over", "- over", "over"]
])("%s: %s", (_title, line, moves, rules) => {
  expect(movesOf(line, rules)).toBe(moves)
})

test("SCHED8 of several halts the first in call order counts, under `observed` the first in time", () => {
  expect([
    inHaltOrder([2, 0, 1], undefined),
    inHaltOrder([2, 0, 1], "call"),
    inHaltOrder([2, 0, 1], "observed")
  ]).toEqual([
    [0, 1, 2],
    [0, 1, 2],
    [2, 0, 1]
  ])
})

/** Whether a call waits for the end of another call (SCHED1 to SCHED3). */
const blocks = (
  accesses: ReadonlyArray<Access | undefined>,
  schedule: Schedule,
  other: number,
  call: number
): boolean => {
  const [one, later] = [accesses[other], accesses[call]]
  if (one === undefined || later === undefined || other === call || schedule === "concurrent") return false
  if (schedule === "reference") return one.effect === "write" && (later.effect === "read" || other < call)
  if (other > call || (one.effect === "read" && later.effect === "read")) return false
  return one.key === undefined || later.key === undefined || one.key === later.key
}

const unbegun: ReadonlySet<Word> = new Set<Word>(["", "gating", "decided", "starting", "waiting"])
const queued: ReadonlySet<Word> = new Set<Word>(["", "gating", "decided"])
const placed = new Set<CallMark | undefined>(["starting", "running", "cancelling", "restarting", "following"])
const active: ReadonlySet<Word> = new Set<Word>([
  ...queued,
  "starting",
  "running",
  "cancelling",
  "restarting",
  "following"
])

it.prop(
  "SCHED1 SCHED2 SCHED3 SCHED7 SCHED8 the moves are those of a look at each pair of calls",
  {
    words: Schema.Array(
      Schema.Tuple([
        Schema.Literals(["r", "w", "ra", "wa", "rb", "wb", "wc", "-"]),
        Schema.Literals(["", "", "", ...(Object.keys(states) as Array<Word>)])
      ])
    ).check(Schema.isMaxLength(12)),
    schedule: Schema.Literals(["effects", "effects", "reference", "concurrent"]),
    limit: Schema.Literals([0, 1, 2, 3, 100]),
    stopped: Schema.Literals(["", "", "", "cancelled", "not_started"])
  },
  ({ words, schedule, limit, stopped }) => {
    const accesses = words.map(([access]) => accessOf(access))
    const is = (index: number, set: ReadonlySet<Word>) => set.has(words[index]?.[1] as Word)
    const halted = words.flatMap(([, word], index) => (word === "halted" ? [index] : []))
    const isSkipped = (index: number) =>
      (stopped === "cancelled" && words[index]?.[1] === "asking") ||
      (is(index, unbegun) &&
        (stopped !== "" ||
          (schedule === "reference" && halted.length > 0) ||
          (schedule === "effects" && halted.some((one) => one < index))))
    const all = words.map((_, index) => index)
    const skips = all.filter(isSkipped)
    const waits = (index: number) =>
      all.some((other) => is(other, active) && !isSkipped(other) && blocks(accesses, schedule, other, index))
    const free = Math.max(0, limit - words.filter(([, word]) => placed.has(states[word].mark)).length)
    const starts = all.filter((index) => is(index, queued) && !isSkipped(index) && !waits(index)).slice(0, free)
    const isOver = all.every((index) => !is(index, active) || isSkipped(index))
    const calls = words.map(([, word]) => states[word])
    const rules = { schedule, limit, stopped: stopped === "" ? undefined : stopped }
    expect(next(calls, accesses, rules)).toEqual({ starts, skips, isOver })
  },
  runsOf(1_000)
)
