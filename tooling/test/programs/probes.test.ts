import { describe, expect, test } from "vitest"
import type { Framework } from "../../lab/probes/framework.ts"
import { framework as generators } from "../../lab/probes/generators.ts"
import { rowOf } from "../../lab/probes/probe.ts"
import { trees } from "../../lab/probes/trees.ts"
import { framework as livingChats, plainValues } from "../../lab/probes/troupe.ts"
import { turns } from "../../lab/probes/turns.ts"

/** The probes that wait for nothing. */
const quick = turns.filter(({ id }) => ["length", "leaves", "unknown", "arguments"].includes(id))

describe.each([livingChats, plainValues])("$name", (framework) => {
  test.each(quick)("$title", async (probe) => {
    expect((await rowOf(probe, framework)).faults).toEqual([])
  })
})

describe("a tree of agents", () => {
  test.each(trees.filter(({ isSlow }) => isSlow !== true))("$title", async (probe) => {
    expect((await rowOf(probe, livingChats)).faults).toEqual([])
  })

  test("whose children go on after a stop, or whose writes run again, is reported", async () => {
    const lost = { reason: "completed", text: "nothing" }
    const deaf: Framework = {
      ...livingChats,
      start: async (...given) => ({
        ...(await livingChats.start(...given)),
        stop: async () => {},
        retry: () => Promise.resolve(lost)
      })
    }
    const chosen = trees.filter(({ id }) => ["stop", "parent"].includes(id))
    const seen = await Promise.all(chosen.map((probe) => rowOf(probe, deaf)))
    expect(seen.map(({ faults }) => faults.length > 0)).toEqual([true, true])
  })
})

test("a loop that runs an unfinished call of the model is reported", async () => {
  const seen = await Promise.all(
    quick.map(async (probe) => [probe.id, (await rowOf(probe, generators)).faults.length > 0])
  )
  expect(Object.fromEntries(seen)).toEqual({ length: true, leaves: false, unknown: false, arguments: true })
})
