/**
 * The host's event loop, for code that would otherwise hold the thread.
 */
import { macrotask } from "./macrotask.ts"

/**
 * Runs a function in a later turn of the event loop, so that sockets and timers get in before it.
 *
 * **When to use**
 *
 * In loops over work that may never wait, such as a stream that is always ready.
 */
export const nextTurn = (run: () => void): void => macrotask(run)
