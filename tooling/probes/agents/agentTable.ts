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

/** Prints the table of one framework, and returns the number of rows with faults. */
export const printAccidents = async (framework: AgentFramework, only?: string): Promise<number> => {
  console.log(`\n${framework.name}\n`)
  let failed = 0
  for (const accident of accidents.filter(({ id }) => only === undefined || id === only)) {
    const { id, title, must } = accident
    const why = framework.cannot[id]
    const { seen, faults } =
      why === undefined ? await runAccident(accident, framework) : { seen: `cannot be expressed: ${why}`, faults: [] }
    const mark = why === undefined ? (faults.length === 0 ? "✓" : "✗") : "–"
    if (faults.length > 0) failed++
    console.log(`${mark} ${title}\n    must: ${must}\n    seen: ${seen}`)
    for (const fault of faults) console.log(`    ✗ ${fault}`)
  }
  return failed
}
