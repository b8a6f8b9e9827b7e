/**
 * Access to the host's event loop, for code that would otherwise block the thread.
 */
import { macrotask } from "./timerQueue.ts"

/**
 * Runs a function in a later turn of the event loop, so that sockets and timers run before it.
 *
 * **When to use**
 *
 * In loops that may never wait, such as reading a stream that is always ready.
 */
export const nextTurn = (run: () => void): void => macrotask(run)
