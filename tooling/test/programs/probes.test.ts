import { describe, expect, test } from "vitest"
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

test("a loop that runs an unfinished call of the model is reported", async () => {
  const seen = await Promise.all(
    quick.map(async ({ id, run, faults }) => [id, faults(await run(generators), generators).length > 0])
  )
  expect(Object.fromEntries(seen)).toEqual({ length: true, leaves: false, unknown: false, arguments: true })
})
