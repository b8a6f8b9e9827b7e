/**
 * Runs functions in a later turn of the host's event loop, so that sockets and timers run first.
 *
 * Uses `setImmediate` if it exists, else a `MessageChannel`, else a timer without delay.
 */
interface WithImmediate {
  readonly setImmediate?: (run: () => void) => unknown
}

const byChannel = (): ((run: () => void) => void) => {
  const { port1, port2 } = new MessageChannel()
  const waiting: Array<() => void> = []
  port1.onmessage = () => waiting.shift()?.()
  return (run) => {
    waiting.push(run)
    port2.postMessage(undefined)
  }
}

const choose = (): ((run: () => void) => void) => {
  const { setImmediate } = globalThis as WithImmediate
  if (setImmediate !== undefined) return (run) => void setImmediate(run)
  if (typeof MessageChannel !== "undefined") return byChannel()
  return (run) => void setTimeout(run, 0)
}

/** Runs a function in a later turn of the host's event loop. */
export const macrotask: (run: () => void) => void = choose()

/** Waits for several turns of the host's event loop, in which promises, fibers and run queues make progress. */
export const settle = async (): Promise<void> => {
  for (let hop = 0; hop < 10; hop++) await new Promise<void>(macrotask)
}
