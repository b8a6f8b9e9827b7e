/** The suites by name. */
import { chatSuite } from "./chat/chatSuite.ts"
import { dispatchSuite } from "./dispatch/dispatchSuite.ts"
import { otpSuite } from "./otp/otpSuite.ts"
import { practiceSuite } from "./practice/practiceSuite.ts"
import { schemaSuite } from "./schema/schemaSuite.ts"
import { statemSuite } from "./statem/statemSuite.ts"
import type { Suite } from "./runner/suite.ts"

export const suites: ReadonlyMap<string, Suite> = new Map([
  ["otp", otpSuite],
  ["gen-statem", statemSuite],
  ["chat", chatSuite],
  ["dispatch", dispatchSuite],
  ["practice", practiceSuite],
  ["schema", schemaSuite]
])
