/** Converts a thrown value to an `Error`. */
export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error), { cause: error })
