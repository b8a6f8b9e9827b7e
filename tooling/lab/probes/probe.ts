/** One probe of a framework, what its runs have in common, and its row in the table. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Cast, Company, Ended, Framework, Turn } from "./framework.ts"

/** What was seen, and in what it differs from what must be. */
interface Seen {
  readonly seen: string
  readonly faults: ReadonlyArray<string>
}

/** One row of the table. */
export interface Probe {
  readonly id: string
  readonly title: string
  readonly must?: string
  /** Whether it takes many seconds, or starts other programs. */
  readonly isSlow?: boolean
  readonly run: (framework: Framework, folder: string) => Promise<Seen>
}

/** A row: a mark, what was seen, and the faults. */
export interface Row extends Seen {
  readonly mark: "✓" | "✗" | "–"
}

/** Runs a probe in a folder of its own; a probe that the framework cannot express has a row without faults. */
export const rowOf = async ({ id, run }: Probe, framework: Framework): Promise<Row> => {
  const why = framework.cannot[id]
  if (why !== undefined) return { mark: "–", seen: `cannot be expressed: ${why}`, faults: [] }
  const folder = mkdtempSync(join(tmpdir(), "troupe-probe-"))
  try {
    const { seen, faults } = await run(framework, folder)
    return { mark: faults.length === 0 ? "✓" : "✗", seen, faults }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The fault, unless the condition holds. */
export const is = (holds: boolean, fault: string): ReadonlyArray<string> => (holds ? [] : [fault])

/** The end of a turn, or what prevented it. The timer keeps the program awake meanwhile. */
export const endOf = async (turn: Turn | undefined, longestMs = 8_000): Promise<Ended> => {
  const over = new AbortController()
  const failed = (error: unknown): Ended => ({
    reason: "threw",
    text: error instanceof Error ? error.message : String(error)
  })
  const end = turn instanceof Promise ? turn : (turn?.ended?.() ?? Promise.reject(new Error("no turn")))
  try {
    return await Promise.race([
      end.catch(failed),
      sleep(longestMs, { reason: "no end", text: "" }, { signal: over.signal })
    ])
  } finally {
    over.abort()
  }
}

/** The end of a turn in one line. */
export const shown = ({ reason, text }: Ended): string => (text === "" ? reason : `${reason}, "${text.slice(0, 120)}"`)

/** Waits until the condition holds, and returns whether it does. */
export const until = async (holds: () => boolean, ms = 2_000): Promise<boolean> => {
  for (let waited = 0; waited < ms && !holds(); waited += 5) await sleep(5)
  return holds()
}

/** Starts a root agent, and always ends it. */
export const withCompany = async <A>(
  framework: Framework,
  cast: Cast,
  folder: string | undefined,
  use: (company: Company) => Promise<A>
): Promise<A> => {
  const company = await framework.start(cast, folder)
  try {
    return await use(company)
  } finally {
    await Promise.race([company.close(), sleep(2_000, undefined, { ref: false })])
  }
}

/** The milliseconds that the work takes. */
export const timeOf = async <A>(work: Promise<A>): Promise<readonly [A, number]> => {
  const start = performance.now()
  return [await work, performance.now() - start]
}
