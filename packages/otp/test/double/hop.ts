/** Lets the host's event loop turn until run queues, promises and fibers have done what they can without a timer. */
export const hop = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** Lets the event loop turn until something holds, with one promise for the whole wait. */
export const until = (holds: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (holds()) resolve()
      else setImmediate(look)
    }
    setImmediate(look)
  })
