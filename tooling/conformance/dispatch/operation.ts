/**
 * What runs a kind of dispatch cases.
 *
 * @module
 */
import type { Finding } from "../runner/suite.ts"
import type { DispatchCase } from "./dispatchCases.ts"

/** Runs a case: what differs from its expectation, nothing when it holds, or what it would need. */
export type Operation = (one: DispatchCase) => Promise<Finding>

/** Operations by the name a case calls them by. */
export type Operations = Readonly<Record<string, Operation>>
