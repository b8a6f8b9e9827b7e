import { Clock } from "@troupe/otp"
import { expect, test } from "vitest"
import { memoryLeases } from "../../src/testing/memoryLeases.ts"
import { leaseTableLaws } from "../double/leaseTableLaws.ts"

test.each(leaseTableLaws)("$title", async ({ check }) => {
  const clock = Clock.test()
  const leaseMs = 1_000
  const table = memoryLeases({ now: () => clock.now(), leaseMs })
  await expect(check({ table, leaseMs, pass: (ms) => clock.advance(ms) })).resolves.toBeUndefined()
})
