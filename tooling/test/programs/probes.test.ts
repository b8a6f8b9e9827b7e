import { describe, expect, test } from "vitest"
import { accidents } from "../../probes/agents/accidents.ts"
import type { AgentFramework } from "../../probes/agents/agentFramework.ts"
import { runAccident } from "../../probes/agents/agentTable.ts"
import { framework as agents } from "../../probes/agents/troupeAgents.ts"
import { framework as generators } from "../../probes/generators.ts"
import { probes } from "../../probes/probes.ts"
import { livingChats, plainValues } from "../../probes/troupe.ts"

/** The probes that wait for nothing. */
const quick = probes.filter(({ id }) => ["length", "leaves", "unknown", "arguments"].includes(id))

describe.each([livingChats, plainValues])("$name", (framework) => {
  test.each(quick)("$title", async ({ run, faults }) => {
    expect(faults(await run(framework), framework)).toEqual([])
  })
})

describe("a tree of agents", () => {
  test.each(accidents.filter(({ isSlow }) => isSlow !== true))("$title", async (accident) => {
    const { faults } = await runAccident(accident, agents)
    expect(faults).toEqual([])
  })

  test("whose children go on after a stop, or whose writes run again, is reported", async () => {
    const deaf: AgentFramework = {
      ...agents,
      start: async (...given) => ({ ...(await agents.start(...given)), stop: async () => {}, retry: async () => lost })
    }
    const lost = { reason: "completed", text: "nothing" }
    const chosen = accidents.filter(({ id }) => ["stop", "parent"].includes(id))
    const seen = await Promise.all(chosen.map((accident) => runAccident(accident, deaf)))
    expect(seen.map(({ faults }) => faults.length > 0)).toEqual([true, true])
  })
})

test("a loop that runs an unfinished call of the model is reported", async () => {
  const seen = await Promise.all(
    quick.map(async ({ id, run, faults }) => [id, faults(await run(generators), generators).length > 0])
  )
  expect(Object.fromEntries(seen)).toEqual({ length: true, leaves: false, unknown: false, arguments: true })
})
