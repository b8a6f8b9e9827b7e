/** One accident of a framework, the observer of its runs, and its row in the table. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Cast, Company, Ended, Framework } from "./framework.ts"

/** What was seen, and in what it differs from the expected outcome. */
interface Seen {
  readonly seen: string
  readonly faults: ReadonlyArray<string>
}

/** Where an accident happens. `start` starts a root agent in the folder; it ends with the accident. */
export interface Stage {
  readonly framework: Framework
  readonly folder: string
  readonly start: (cast: Cast) => Promise<Company>
}

/** One row of the table. */
export interface Accident {
  readonly id: string
  readonly title: string
  readonly must: string
  /** Whether it starts other programs. */
  readonly isSlow?: boolean
  readonly run: (stage: Stage) => Promise<Seen>
}

/** A row: a mark, what was seen, and the faults. */
export interface Row extends Seen {
  readonly mark: "✓" | "✗" | "–"
}

/** Makes an accident in a folder of its own; one that the framework cannot express has a row without faults. */
export const rowOf = async ({ id, run }: Accident, framework: Framework): Promise<Row> => {
  const why = framework.cannot[id]
  if (why !== undefined) return { mark: "–", seen: `cannot be expressed: ${why}`, faults: [] }
  const folder = mkdtempSync(join(tmpdir(), "troupe-probe-"))
  const started: Array<Company> = []
  const start = async (cast: Cast): Promise<Company> => {
    await close()
    const company = await framework.start(cast, folder)
    started.push(company)
    return company
  }
  const close = async (): Promise<void> => {
    for (const company of started.splice(0)) await settles(company.close())
  }
  try {
    const { seen, faults } = await run({ framework, folder, start })
    return { mark: faults.length === 0 ? "✓" : "✗", seen, faults }
  } finally {
    await close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What was seen, with the faults whose conditions do not hold. */
export const saw = (seen: string, holds: Readonly<Record<string, boolean>>): Seen => ({
  seen,
  faults: Object.entries(holds).flatMap(([fault, isRight]) => (isRight ? [] : [fault]))
})

/** Waits until the condition holds, and returns whether it does. The bound counts turns of this program, not the time. */
export const until = async (holds: () => boolean, ms = 2_000): Promise<boolean> => {
  for (let waited = 0; waited < ms && !holds(); waited += 5) await sleep(5)
  return holds()
}

/** Whether some work settles within this bound. */
const settles = (work: Promise<unknown>, ms?: number): Promise<boolean> => {
  let isOver = false
  const over = () => void (isOver = true)
  void work.then(over, over)
  return until(() => isOver, ms)
}

/** The end of a turn, or what prevented it. */
export const endOf = async (turn: Promise<Ended> | undefined, longestMs = 8_000): Promise<Ended> => {
  const ended = (turn ?? Promise.reject(new Error("no turn"))).catch((error: unknown) => ({
    reason: "threw",
    text: error instanceof Error ? error.message : String(error)
  }))
  return (await settles(ended, longestMs)) ? ended : { reason: "no end", text: "" }
}

/** The end of a turn in one line. */
export const shown = ({ reason, text }: Ended): string => (text === "" ? reason : `${reason}, "${text.slice(0, 120)}"`)
