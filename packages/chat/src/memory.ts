/**
 * Memories: the tools `remember`, `recall` and `forget`.
 *
 * @module
 */
import { forget, recall, remember } from "./tool/memoryTools.ts"

/** Makes the tools by which a model remembers, recalls and forgets. */
export const Memory = { remember, recall, forget } as const
