/** Where batches of calls differ from the cases on purpose. */
import type { Deviation } from "./operation.ts"

export const parallelDeviations: ReadonlyArray<Deviation> = []
