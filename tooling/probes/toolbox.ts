/** The tools of the probes, and the ledger of their effects. */
import { setTimeout as sleep } from "node:timers/promises"
import type { ProbeTool } from "./framework.ts"

/** The side effects and their times, in milliseconds since the probe began. */
export class Ledger {
  readonly #start = performance.now()
  readonly effects: Array<{ readonly callId: string; readonly atMs: number }> = []
  signalled = 0
  /** The time at which the turn was over for its reader. */
  endedMs: number | undefined

  now(): number {
    return performance.now() - this.#start
  }

  happened(callId: string): void {
    this.effects.push({ callId, atMs: this.now() })
  }

  /** Effects after the end. */
  get late(): number {
    const ended = this.endedMs
    return ended === undefined ? 0 : this.effects.filter(({ atMs }) => atMs > ended).length
  }
}

const anyObject = { type: "object", properties: {}, additionalProperties: true }

const make = (name: string, run: ProbeTool["run"], more: Partial<ProbeTool> = {}): ProbeTool => ({
  name,
  schema: anyObject,
  effect: "read",
  run,
  ...more
})

/** Works for so long, and counts an abort meanwhile. */
const work = async (ledger: Ledger, ms: number, id: string, signal: AbortSignal, heeds: boolean): Promise<string> => {
  const reported = () => ledger.signalled++
  signal.addEventListener("abort", reported, { once: true })
  try {
    await sleep(ms, undefined, heeds ? { signal } : {})
    ledger.happened(id)
    return "done"
  } finally {
    signal.removeEventListener("abort", reported)
  }
}

/** The tools that write to one ledger. */
export const toolbox = (ledger: Ledger) => ({
  /** Does its work after so long; stops when its signal is aborted. */
  aware: (name: string, ms: number): ProbeTool => make(name, (_, { id, signal }) => work(ledger, ms, id, signal, true)),
  /** Does its work after so long, and ignores its signal. */
  deaf: (name: string, ms: number, effect: "read" | "write" = "read"): ProbeTool =>
    make(name, (_, { id, signal }) => work(ledger, ms, id, signal, false), { effect }),
  throws: (name: string, ms: number): ProbeTool =>
    make(name, async () => {
      await sleep(ms)
      throw new Error("boom")
    }),
  never: (name: string): ProbeTool => make(name, () => new Promise(() => {})),
  asks: (name: string, question: string): ProbeTool => make(name, async () => "asked", { asks: question }),
  /** Takes `{ n: number }`. */
  counts: (name: string): ProbeTool =>
    make(
      name,
      async (_, { id }) => {
        ledger.happened(id)
        return "counted"
      },
      {
        schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false }
      }
    )
})
