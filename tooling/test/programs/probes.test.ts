import { expect, test } from "vitest"
import { rowOf } from "../../lab/probes/accident.ts"
import { accidents } from "../../lab/probes/accidents.ts"
import type { Framework } from "../../lab/probes/framework.ts"
import { framework as troupe } from "../../lab/probes/troupe.ts"

const quick = accidents.filter(({ isSlow }) => isSlow !== true)

test.each(quick)("$title", async (accident) => {
  expect((await rowOf(accident, troupe)).faults).toEqual([])
})

test("a tree whose children go on after a stop, or whose writes run again, is reported", async () => {
  const lost = { reason: "completed", text: "nothing" }
  const deaf: Framework = {
    ...troupe,
    start: async (...given) => ({
      ...(await troupe.start(...given)),
      stop: async () => {},
      retry: () => Promise.resolve(lost)
    })
  }
  const chosen = quick.filter(({ id }) => ["stop", "parent"].includes(id))
  const seen = await Promise.all(chosen.map((accident) => rowOf(accident, deaf)))
  expect(seen.map(({ faults }) => faults.length > 0)).toEqual([true, true])
})
