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
