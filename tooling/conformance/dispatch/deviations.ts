/**
 * Where our behaviour differs from a case on purpose, and by which decision.
 *
 * A deviating case must still run, and differ in nothing but what decisions explain; a case that passes is counted as
 * passed. Rules speak of what differs, not of single cases.
 *
 * @module
 */
import type { Difference } from "../chat/matching.ts"
import type { DispatchCase } from "./caseFile.ts"
import { gateDeviations } from "./gateDeviations.ts"
import { loopDeviations } from "./loopDeviations.ts"
import type { Deviation } from "./operation.ts"
import { parallelDeviations } from "./parallelDeviations.ts"

const deviations: ReadonlyArray<Deviation> = [...parallelDeviations, ...gateDeviations, ...loopDeviations]

/** Why a case differs, when decisions explain each of its differences. */
export const deviationOf = (one: DispatchCase, found: ReadonlyArray<Difference>): string | undefined => {
  const reasons = found.map((difference) => deviations.find(({ explains }) => explains(difference, one)))
  if (reasons.includes(undefined)) return undefined
  return [...new Set(reasons.map((reason) => `${reason?.decision}: ${reason?.because}`))].join("; ")
}
