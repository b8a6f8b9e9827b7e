/** Lets the host's event loop turn until run queues, promises and fibers have done what they can without a timer. */
export const hop = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** Lets the event loop turn until a condition holds; gives up loudly. */
export const until = async (holds: () => boolean, what = "the condition"): Promise<void> => {
  for (let turn = 0; turn < 2_000; turn++) {
    if (holds()) return
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
  throw new Error(`${what} did not come to hold`)
}
