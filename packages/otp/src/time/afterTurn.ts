/**
 * Runs a function after the current turn. A fiber resumed inside the turn would run as the process of that turn.
 *
 * It uses a promise, which costs a third of `queueMicrotask`.
 */
const settled = Promise.resolve()

export const afterTurn = (run: () => void): void => void settled.then(run)
