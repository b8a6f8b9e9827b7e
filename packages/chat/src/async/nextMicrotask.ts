/** Defers to a microtask, so that the current process does not own the call and its exit cannot cancel the call. */
export const outsideTurn = (): Promise<void> => Promise.resolve()
