/** What was thrown, as an error. */
export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error), { cause: error })
