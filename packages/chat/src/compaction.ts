/**
 * The compaction of long threads: bounds, strategies, and the tools that read what requests leave out.
 *
 * @module
 */
import { make } from "./compaction/makeCompactor.ts"
import { prune, summarise, window } from "./compaction/strategies.ts"
import { plan, readResult, searchHistory } from "./tool/pastTools.ts"

/** Makes compactors for the option `compaction`, their strategies, and the tools `plan`, `read_result` and `search_history`. */
export const Compaction = { make, prune, summarise, window, plan, readResult, searchHistory } as const
