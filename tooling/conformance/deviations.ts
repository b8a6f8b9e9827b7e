/**
 * The cases our behaviour differs from on purpose: each with the decision that says so, and why.
 *
 * A case listed here may fail; a case that is listed and passes is a mistake of this list.
 *
 * @module
 */

/** A case that may fail. */
export interface Deviation {
  readonly suite: string
  readonly id: string
  readonly decision: string
  readonly reason: string
}

export const deviations: ReadonlyArray<Deviation> = [
  {
    suite: "otp",
    id: "proc-010-after-skipped-on-signal",
    decision: "P1",
    reason: "finalizers always run: those of a process's scope and fibers run also when a signal or a kill ends it"
  }
]

/** The deviation of a case, if it has one. */
export const deviationOf = (suite: string, id: string): Deviation | undefined =>
  deviations.find((found) => found.suite === suite && found.id === id)
