/**
 * Runs a function after the turn that is on: a fiber that went on inside it would act as the process whose turn it is.
 *
 * By way of a promise, which costs a third of `queueMicrotask`.
 */
const settled = Promise.resolve()

export const afterTurn = (run: () => void): void => void settled.then(run)
