/** The lines of the bench: how often each operation is done, and what the BEAM takes for it, to go by. */
import type { Contestant } from "./contest.ts"

/** One line. `beam` is in microseconds, or bytes for `idle`, on a machine of the same class. */
export interface BenchLine {
  readonly name: string
  readonly key: keyof Contestant
  readonly count: number
  readonly unit: "µs" | "bytes"
  readonly beam: readonly [least: number, most: number] | undefined
}

const line = (name: string, key: BenchLine["key"], count: number, beam: BenchLine["beam"]): BenchLine => ({
  name,
  key,
  count,
  unit: key === "idle" ? "bytes" : "µs",
  beam
})

export const lines: ReadonlyArray<BenchLine> = [
  line("spawn a process, to its end", "spawn", 100_000, undefined),
  line("start a server", "start", 50_000, [4, 8]),
  line("call round trip", "call", 100_000, [2, 4]),
  line("cast, taken", "cast", 500_000, [0.5, 0.7]),
  line("stop a server", "stop", 50_000, [5, 10]),
  line("start a supervised server", "supervisedStart", 50_000, [9, 15]),
  line("restart after a crash", "restart", 20_000, undefined),
  line("registry lookup", "lookup", 1_000_000, undefined),
  line("1 million messages, 1 process", "throughOne", 1_000_000, [0.5, 0.7]),
  line("1 million messages, 10,000 processes", "throughMany", 1_000_000, [0.5, 0.7]),
  line("100,000 idle servers, each", "idle", 100_000, [2_810, 2_810])
]

/** The part of the BEAM's cost a line is meant to stay within. */
export const aim = 0.25
