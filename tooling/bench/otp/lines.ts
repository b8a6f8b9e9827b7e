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
  /** The most that it may cost, as a part of the BEAM's cost. */
  readonly bound: number
}

const restarted = "end a child, wait until its supervisor has the next one up"
const ticked = "set a timer of 0 to 9 ms to a server, until the server has taken its message"
const watched = "monitor the same process from one server, until the server was told of its end"

/** All lines, in the order of the table. */
export const lines: ReadonlyArray<BenchLine> = (
  [
    ["spawn a process, to its end", "spawn", 100_000, 1.84, 0.6, "spawn, its only turn, its end"],
    ["start a server", "start", 50_000, 2.68, 0.4, "start it and wait until it is up, one after another"],
    ["start among 100,000", "startAmong", 50_000, 2.72, 0.4, "the same where 100,000 idle servers live"],
    ["call round trip", "call", 100_000, 1.87, 0.6, "call with a deadline, and wait for the reply"],
    ["cast, taken", "cast", 500_000, 0.22, 0.6, "cast in bursts of 1,000, each until it is taken"],
    ["stop a server", "stop", 50_000, 6.92, 0.6, "ask it to end and wait for its end"],
    [
      "start a supervised server",
      "supervisedStart",
      50_000,
      5,
      0.4,
      "ask its supervisor to start it, wait until it is up"
    ],
    ["restart after a crash", "restart", 20_000, undefined, 0.6, restarted],
    ["registry lookup", "lookup", 1_000_000, 0.63, 0.6, "find a process by one of 1,000 keys"],
    ["registry lookup, array keys", "arrayLookup", 500_000, 0.7, 1.2, 'the same by keys such as ["room", 7]'],
    ["timer, to its message", "tick", 100_000, 1, 1.5, ticked],
    ["timer, cancelled", "cancel", 100_000, 1, 1.5, "set timers of a minute to one process, then cancel each"],
    ["monitor, to its message", "watch", 100_000, 1, 1.5, watched],
    ["1 million messages, 1 process", "throughOne", 1_000_000, 0.65, 0.6, "cast all at once, then take them: each"],
    ["1 million messages, 10,000 processes", "throughMany", 1_000_000, 0.89, 0.6, "the same, to each process in turn"],
    ["100,000 waiting processes, each", "waiting", 100_000, 2_589, 0.19, "heap of one that waits in its first receive"],
    ["100,000 idle servers, each", "idle", 100_000, 2_689, 0.19, "heap of a started, linked server without mail"]
  ] as const
).map(([name, key, count, beam, bound, means]) => {
  const unit = key === "idle" || key === "waiting" ? "bytes" : "µs"
  return { name, means, key, count, unit, beam, bound }
})

/** The machine and the date of the recorded costs of the BEAM. */
export const recordedOn = "2 busy cores of an AMD EPYC, Linux, Elixir 1.14.0 on OTP 25, 22 November 2026"

/** The target for a line's cost, as a part of the BEAM's cost in the same run. */
export const aim = 0.25
