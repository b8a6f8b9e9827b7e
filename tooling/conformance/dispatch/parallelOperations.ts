/** Runs batches of calls. */
import type { Operations } from "./operation.ts"

export const parallelOperations: Operations = {}
