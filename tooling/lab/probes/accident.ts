/** One accident of a framework, the observer of its runs, and its row in the table. */
import { Folder } from "../../../packages/store/test/double/folder.ts"
import { settlesWithin } from "../delays.ts"
import type { Cast, Company, Ended, Framework } from "./framework.ts"

/** Where an accident happens. `start` starts a root agent in the folder; it ends with the accident. */
interface Stage {
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
  readonly run: (stage: Stage) => Promise<ReturnType<typeof saw>>
}

/** Makes an accident in a folder of its own, and returns its row: a mark, what was seen, and the faults. One that the framework cannot express has a row without faults. */
export const rowOf = async ({ id, run }: Accident, framework: Framework) => {
  const why = framework.cannot[id]
  if (why !== undefined) return { mark: "–", seen: `cannot be expressed: ${why}`, faults: [] }
  using folder = new Folder()
  let company: Company | undefined
  const close = async (): Promise<void> => {
    const former = company
    company = undefined
    if (former !== undefined) await settlesWithin(2_000, former.close())
  }
  const start = async (cast: Cast): Promise<Company> => {
    await close()
    company = await framework.start(cast, folder.path)
    return company
  }
  const { seen, faults } = await run({ framework, folder: folder.path, start }).finally(close)
  return { mark: faults.length === 0 ? "✓" : "✗", seen, faults }
}

/** What was seen, with the faults whose conditions do not hold. */
export const saw = (seen: string, holds: Readonly<Record<string, boolean>>) => ({
  seen,
  faults: Object.entries(holds).flatMap(([fault, isRight]) => (isRight ? [] : [fault]))
})

/** The end of a turn, or what prevented it. */
export const endOf = async (turn: Promise<Ended> | undefined, longestMs = 8_000): Promise<Ended> => {
  const ended = (turn ?? Promise.reject(new Error("no turn"))).catch((error: unknown) => ({
    reason: "threw",
    text: error instanceof Error ? error.message : String(error)
  }))
  return (await settlesWithin(longestMs, ended)) ? ended : { reason: "no end", text: "" }
}

/** The end of a turn in one line. */
export const shown = ({ reason, text }: Ended): string => (text === "" ? reason : `${reason}, "${text.slice(0, 120)}"`)
