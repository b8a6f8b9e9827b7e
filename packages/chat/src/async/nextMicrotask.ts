/** The turn of a process is synchronous: after this no process is calling, so that its end cannot drop the call. */
export const outsideTurn = (): Promise<void> => Promise.resolve()
