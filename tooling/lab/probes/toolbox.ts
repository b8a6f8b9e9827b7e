/** The tools of the probes, and the ledger of their effects. */
import { setTimeout as sleep } from "node:timers/promises"
import type { ProbeTool } from "./framework.ts"

/** The side effects and their times, in milliseconds since the probe began. */
export class Ledger {
  readonly #start = performance.now()
  readonly effects: Array<{ readonly callId: string; readonly atMs: number }> = []
  signalled = 0
  /** The time at which the turn was over for its reader. */
  endedMs = Number.POSITIVE_INFINITY

  now(): number {
    return performance.now() - this.#start
  }

  happened(callId: string): void {
    this.effects.push({ callId, atMs: this.now() })
  }

  /** The number of effects after the end. */
  get late(): number {
    return this.effects.filter(({ atMs }) => atMs > this.endedMs).length
  }
}

const objectSchema = { type: "object", properties: {}, additionalProperties: true }

const make = (name: string, run: ProbeTool["run"], more: Partial<ProbeTool> = {}): ProbeTool => ({
  name,
  schema: objectSchema,
  effect: "read",
  run,
  ...more
})

/** The tools that write to one ledger. */
export const toolbox = (ledger: Ledger) => {
  /** Works for so long, and counts an abort meanwhile. */
  const work =
    (ms: number, stops: boolean): ProbeTool["run"] =>
    async (_, { id, signal }) => {
      const reported = () => ledger.signalled++
      signal.addEventListener("abort", reported, { once: true })
      try {
        await sleep(ms, undefined, stops ? { signal } : {})
        ledger.happened(id)
        return "done"
      } finally {
        signal.removeEventListener("abort", reported)
      }
    }
  return {
    /** Does its work after so long; stops when its signal is aborted. */
    aware: (name: string, ms: number): ProbeTool => make(name, work(ms, true)),
    /** Does its work after so long, and ignores its signal. */
    deaf: (name: string, ms: number, effect: "read" | "write" = "read"): ProbeTool =>
      make(name, work(ms, false), { effect }),
    throws: (name: string, ms: number): ProbeTool =>
      make(name, async () => {
        await sleep(ms)
        throw new Error("boom")
      }),
    never: (name: string): ProbeTool => make(name, () => new Promise(() => {})),
    asks: (name: string, question: string): ProbeTool => make(name, async () => "asked", { asks: question }),
    /** Takes `{ n: number }`. */
    counts: (name: string): ProbeTool =>
      make(name, work(0, false), {
        schema: { ...objectSchema, properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false }
      })
  }
}

/** A tool that writes: its effect comes first, and then `after`. */
export const charge = (effect: () => void, after: () => Promise<void> = async () => {}): ProbeTool =>
  make(
    "charge",
    async () => {
      effect()
      await after()
      return "charged"
    },
    { effect: "write", schema: { ...objectSchema, additionalProperties: false } }
  )
