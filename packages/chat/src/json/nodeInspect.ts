/**
 * How `console.log`, `util.inspect` and the REPL print an object, and what `JSON.stringify` writes of it.
 *
 * SHOWN1. A chat, a turn, a snapshot and a Troupe are printed as a small object of plain values: no process, no machine.
 * SHOWN2. `JSON.stringify` writes the same small object: no engine, no tool context, no cycle.
 */

/** Node calls the method of this name when it prints an object. No import of Node is needed. */
export const inspected = Symbol.for("nodejs.util.inspect.custom")

/** Node's `inspect` function, which such a method receives. */
export type Inspect = (value: unknown, options?: object) => string

/** The text `Name { field: value }`. */
export const printed = (name: string, fields: object, options: object, inspect: Inspect): string =>
  `${name} ${inspect(fields, options)}`
