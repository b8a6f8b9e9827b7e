import { expect, test } from "vitest"
import { OtpError } from "../../src/index.ts"

const reasons = [
  "running",
  "restarting",
  "notFound",
  "alreadyPresent",
  "alreadyStarted",
  "maxChildren",
  "duplicateId",
  "significantUnheeded",
  "significantPermanent"
] as const

test.each(reasons)("a refusal for a child says what is the matter and what to do: %s", (reason) => {
  const { message } = new OtpError.ChildRefused({ reason, id: "a", pid: undefined })
  expect(message).toMatch(/^the supervisor refuses this for child "a": .+: .+/)
})

test("a start that failed says what to do next", () => {
  expect(new OtpError.StartFailed({ reason: "timeout" }).message).toContain("allow more, or do less in init")
  expect(new OtpError.StartFailed({ reason: "boom" }).message).toBe(
    "the process did not start: boom; start it again once that is mended"
  )
  expect(new OtpError.FailedToStartChild({ id: "a", reason: "boom" }).message).toContain("mend that")
})
