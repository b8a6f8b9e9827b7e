/** What an attempt is refused with; fails when it is not. */
export const refusal = async (attempt: () => unknown): Promise<unknown> => {
  try {
    await attempt()
  } catch (thrown) {
    return thrown
  }
  throw new Error("it was not refused")
}
