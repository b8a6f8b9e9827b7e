/** The lines of the bench: the number of runs of each operation, and its recorded cost on the BEAM. */
import type { Contestant } from "./contest.ts"

/**
 * One line. `means` describes the operation; `beam` is its recorded cost on the BEAM, in the line's unit, and `undefined` for a
 * line that `beam.exs` does not have.
 */
export interface BenchLine {
  readonly name: string
  readonly means: string
  readonly key: keyof Contestant
  readonly count: number
  readonly unit: "µs" | "bytes"
  readonly beam: number | undefined
}

const restarted = "end a child, wait until its supervisor has the next one up"

/** All lines, in the order of the table. */
export const lines: ReadonlyArray<BenchLine> = (
  [
    ["spawn a process, to its end", "spawn", 100_000, 1.84, "spawn, its only turn, its end"],
    ["start a server", "start", 50_000, 2.68, "start it and wait until it is up, one after another"],
    ["start among 100,000", "startAmong", 50_000, 2.72, "the same where 100,000 idle servers live"],
    ["call round trip", "call", 100_000, 1.87, "call with a deadline, and wait for the reply"],
    ["cast, taken", "cast", 500_000, 0.22, "cast in bursts of 1,000, each until it is taken"],
    ["stop a server", "stop", 50_000, 6.92, "ask it to end and wait for its end"],
    ["start a supervised server", "supervisedStart", 50_000, 5, "ask its supervisor to start it, wait until it is up"],
    ["restart after a crash", "restart", 20_000, undefined, restarted],
    ["registry lookup", "lookup", 1_000_000, 0.63, "find a process by one of 1,000 keys"],
    ["1 million messages, 1 process", "throughOne", 1_000_000, 0.65, "cast all at once, then take them: each"],
    ["1 million messages, 10,000 processes", "throughMany", 1_000_000, 0.89, "the same, to each process in turn"],
    ["100,000 waiting processes, each", "waiting", 100_000, 2_589, "heap of one that waits in its first receive"],
    ["100,000 idle servers, each", "idle", 100_000, 2_689, "heap of a started, linked server without mail"]
  ] as const
).map(([name, key, count, beam, means]) => {
  const unit = key === "idle" || key === "waiting" ? "bytes" : "µs"
  return { name, means, key, count, unit, beam }
})

/** The machine and the date of the recorded costs of the BEAM. */
export const recordedOn = "2 busy cores of an AMD EPYC, Linux, Elixir 1.14.0 on OTP 25, 22 November 2026"

/** The target for a line's cost, as a part of the BEAM's cost in the same run. */
export const aim = 0.25
