/** Lets the host's event loop turn until run queues, promises and fibers have done what they can without a timer. */
export const hop = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}
