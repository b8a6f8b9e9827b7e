/** Runs the accidents on a framework, and prints a line for each. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Accident, Seen } from "./accident.ts"
import { accidents } from "./accidents.ts"
import type { AgentFramework } from "./agentFramework.ts"

/** Runs one accident in a folder of its own. */
export const runAccident = async (accident: Accident, framework: AgentFramework): Promise<Seen> => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-probe-"))
  try {
    return await accident.run(framework, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** One row: a mark, what was seen, and the faults. */
export interface Row extends Seen {
  readonly mark: "✓" | "✗" | "–"
}

/** The row of an accident, also of one that the framework cannot express. */
export const rowOf = async (accident: Accident, framework: AgentFramework): Promise<Row> => {
  const why = framework.cannot[accident.id]
  if (why !== undefined) return { mark: "–", seen: `cannot be expressed: ${why}`, faults: [] }
  const { seen, faults } = await runAccident(accident, framework)
  return { mark: faults.length === 0 ? "✓" : "✗", seen, faults }
}

/** Prints the table of one framework, and returns the number of rows with faults. */
export const printAccidents = async (framework: AgentFramework, only?: string): Promise<number> => {
  console.log(`\n${framework.name}\n`)
  let failed = 0
  for (const accident of accidents.filter(({ id }) => only === undefined || id === only)) {
    const { mark, seen, faults } = await rowOf(accident, framework)
    if (faults.length > 0) failed++
    console.log(`${mark} ${accident.title}\n    must: ${accident.must}\n    seen: ${seen}`)
    for (const fault of faults) console.log(`    ✗ ${fault}`)
  }
  return failed
}
