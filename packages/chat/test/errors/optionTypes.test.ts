import { expect, test } from "vitest"
import * as z from "zod"
import { findingsFor } from "../../src/errors/valueChecks.ts"

const name = z.strictObject({ leaseMs: z.number().optional() })

test("when an object has a check of the whole, its findings are there", () => {
  const either = name.superRefine(({ leaseMs }, context) => {
    if (leaseMs === undefined) context.addIssue({ code: "custom", path: ["leaseMs"], message: "must be there" })
  })
  expect(findingsFor(either, {})).toEqual([{ field: ["leaseMs"], reason: "must be there" }])
})

test("when an object takes other names, none is unknown, and the values of these names are checked", () => {
  expect(findingsFor(z.looseObject({ a: z.number() }), { a: 1, b: 2 })).toEqual([])
  expect(findingsFor(z.object({ a: z.number() }).catchall(z.string("must be text")), { a: 1, b: 2 })).toEqual([
    { field: ["b"], reason: "must be text" }
  ])
})

test.each([
  ["an object", name, []],
  ["an object that is built when it is first used", z.lazy(() => name), []],
  ["a part of an object", z.strictObject({ part: z.lazy(() => name).optional() }), ["part"]]
])("OPT1 an unknown name of %s names the option that it resembles", (_, type, place) => {
  const value = place.length === 0 ? { leeseMs: 1 } : { part: { leeseMs: 1 } }
  expect(findingsFor(type, value)).toEqual([{ field: [...place, "leeseMs"], reason: "unknown; did you mean leaseMs?" }])
})
