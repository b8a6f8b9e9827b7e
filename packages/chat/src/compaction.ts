/**
 * The compaction of long threads: bounds, strategies, and the estimate of tokens.
 *
 * @module
 */
import { make } from "./compaction/makeCompactor.ts"
import { prune, summarise, window } from "./compaction/strategies.ts"

/** Makes compactors for the option `compaction`, and their strategies. */
export const Compaction = { make, prune, summarise, window } as const

export type { Compactor } from "./compaction/Compactor.ts"
