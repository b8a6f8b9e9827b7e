/** The lines of the bench: how often each operation is done, and what the BEAM takes for it, to go by. */
import type { Contestant } from "./contest.ts"

/** One line. `means` tells what is done once; `beam` is what the BEAM takes, on a machine of the same class. */
export interface BenchLine {
  readonly name: string
  readonly means: string
  readonly key: keyof Contestant
  readonly count: number
  readonly unit: "µs" | "bytes"
  readonly beam: readonly [least: number, most: number] | undefined
}

const line = (
  name: string,
  key: BenchLine["key"],
  count: number,
  beam: BenchLine["beam"],
  means: string
): BenchLine => ({
  name,
  means,
  key,
  count,
  unit: key === "idle" || key === "waiting" ? "bytes" : "µs",
  beam
})

export const lines: ReadonlyArray<BenchLine> = [
  line("spawn a process, to its end", "spawn", 100_000, undefined, "spawn, its only turn, its end"),
  line("start a server", "start", 50_000, [4, 8], "start it and wait until it is up, one after another"),
  line("start among 100,000", "startAmong", 50_000, [4, 8], "the same where 100,000 idle servers live"),
  line("call round trip", "call", 100_000, [2, 4], "call with a deadline, and wait for the reply"),
  line("cast, taken", "cast", 500_000, [0.5, 0.7], "cast in bursts of 1,000, each until it is taken"),
  line("stop a server", "stop", 50_000, [5, 10], "ask it to end and wait for its end"),
  line(
    "start a supervised server",
    "supervisedStart",
    50_000,
    [9, 15],
    "ask its supervisor to start it, wait until it is up"
  ),
  line(
    "restart after a crash",
    "restart",
    20_000,
    undefined,
    "end a child, wait until its supervisor has the next one up"
  ),
  line("registry lookup", "lookup", 1_000_000, undefined, "find a process by one of 1,000 keys"),
  line("1 million messages, 1 process", "throughOne", 1_000_000, [0.5, 0.7], "cast all at once, then take them: each"),
  line(
    "1 million messages, 10,000 processes",
    "throughMany",
    1_000_000,
    [0.5, 0.7],
    "the same, to each process in turn"
  ),
  line(
    "100,000 waiting processes, each",
    "waiting",
    100_000,
    [2_660, 2_660],
    "heap of one that waits in its first receive"
  ),
  line("100,000 idle servers, each", "idle", 100_000, [2_810, 2_810], "heap of a started, linked server without mail")
]

/** The part of the middle of the BEAM's range that a line is meant to stay within. */
export const aim = 0.25
