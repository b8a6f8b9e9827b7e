/** What must be true of a soak when all is quiet. */
import type { System } from "@troupe/otp"
import type { Zombies } from "@troupe/chat/observe"
import { type Equation, is, type Ledger } from "./ledger.ts"

/** What was counted, and what is left. */
export interface Counted {
  readonly ledger: Ledger
  readonly stats: ReturnType<typeof System.stats>
  readonly zombies: ReturnType<typeof Zombies.counts>
  /** Handlers that still run. */
  readonly running: number
  /** Adapter streams. */
  readonly streams: { readonly open: number; readonly released: number }
  /** Threads and child processes. */
  readonly placesLeft: number
  readonly rejections: number
}

/** Both sides of each equation. */
export const equationsOf = ({
  ledger,
  stats,
  zombies,
  running,
  streams,
  placesLeft,
  rejections
}: Counted): ReadonlyArray<Equation> => {
  const { processes, fibers, timers, closing } = stats
  const zero = (name: string): Equation => is(name, ledger.get(name), 0)
  return [
    ledger.sum("calls = outcomes", "calls kept", {
      outcomes: ledger.get("outcomes kept"),
      "answered by the caller": ledger.get("answers of the caller"),
      pending: ledger.get("calls pending")
    }),
    zero("calls kept without a result"),
    zero("calls withdrawn that had written"),
    zero("results without a call, or second ones"),
    zero("outcomes twice in a turn"),
    zero("inputs twice in a thread"),
    ledger.sum("turns = ends", "turns", {
      results: ledger.get("turns with a result"),
      failures: ledger.get("turns that failed")
    }),
    ledger.sum("streams = ends", "streams", { over: ledger.get("streams over") }),
    ledger.sum("verbs for calls = ends", "verbs for calls", { over: ledger.get("verbs for calls over") }),
    ledger.sum("cancels = ends", "cancels", { over: ledger.get("cancels over") }),
    is("adapter streams opened = released", streams.open + streams.released, streams.released),
    ledger.sum("handlers started = settled", "handlers started", {
      settled: ledger.get("handlers settled"),
      running: running
    }),
    ledger.sum("handlers that outlived their calls = listed", "handlers that outlived their calls", {
      listed: ledger.get("of those listed")
    }),
    ledger.sum("handlers that outlived their calls = reported", "handlers that outlived their calls", {
      reported: ledger.get("of those aborted by their signal")
    }),
    {
      title: "zombies = late completions + still listed",
      left: zombies.late + zombies.listed,
      right: ledger.get("late completions") + running,
      shown: `late completions ${ledger.get("late completions")} + still listed ${running}`
    },
    ledger.sum("subscriptions = ends", "subscriptions", { over: ledger.get("subscriptions over") }),
    ledger.sum("attachments = ends", "attachments", { over: ledger.get("attachments over") }),
    ledger.sum("processes = ends", "processes", { over: ledger.get("processes over"), living: processes }),
    is("left of the threads and child processes", placesLeft, 0),
    is("left of the system: processes, fibers, timers", processes + fibers + timers + closing, 0),
    zero("never came"),
    is("unhandled rejections", rejections, 0)
  ]
}
