/** Processes that have a fifth of a processor core each: signals freeze each one for the last four fifths of a cycle of 50 ms. */

const share = 0.2

/** The length of a cycle. */
export const cycleMs = 50

/** Limits the processes, and returns the function that ends the limit. */
export const limit = (pids: ReadonlyArray<number>): (() => void) => {
  const signal = (name: NodeJS.Signals): void => {
    for (const pid of pids) process.kill(pid, name)
  }
  let pausing: NodeJS.Timeout | undefined
  const cycle = setInterval(() => {
    signal("SIGCONT")
    pausing = setTimeout(() => signal("SIGSTOP"), share * cycleMs)
  }, cycleMs)
  return () => {
    clearInterval(cycle)
    clearTimeout(pausing)
    signal("SIGCONT")
  }
}
