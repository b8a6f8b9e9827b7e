/**
 * What runs a kind of dispatch cases.
 *
 * @module
 */
import type { Difference } from "../chat/matching.ts"
import type { DispatchCase } from "./caseFile.ts"

/** What a case speaks of and this project does not have, in words. */
interface Unsupported {
  readonly unsupported: string
}

/** Runs a case: what differs from its expectation, nothing when it holds, or what it would need. */
export type Operation = (one: DispatchCase) => Promise<ReadonlyArray<Difference> | Unsupported>

/** Operations by the name a case calls them by. */
export type Operations = Readonly<Record<string, Operation>>

/** One decision, and what of a case it explains. */
export interface Deviation {
  /** The topic of the decision, as the table of decisions has it; `version` for what only an old version does. */
  readonly decision:
    | "grouping"
    | "parity switch"
    | "state"
    | "halts"
    | "results"
    | "crashes"
    | "gates"
    | "faults"
    | "version"
  readonly because: string
  readonly explains: (difference: Difference, one: DispatchCase) => boolean
}
