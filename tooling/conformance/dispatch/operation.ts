/**
 * The runner of one kind of dispatch cases.
 *
 * @module
 */
import type { Finding } from "../runner/suite.ts"
import type { DispatchCase } from "./dispatchCases.ts"

/** Runs a case, and returns its differences, none when it passes, or the missing feature. */
export type Operation = (one: DispatchCase) => Promise<Finding>

/** Operations by the case's name. */
export type Operations = Readonly<Record<string, Operation>>
