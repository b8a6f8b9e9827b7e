/**
 * What Node prints of an object: with `console.log`, with `util.inspect` and in the REPL; and what its JSON text holds.
 *
 * SHOWN1. A chat, a turn, a snapshot and a Troupe are printed as a small object of plain values: no process, no machine.
 * SHOWN2. `JSON.stringify` writes the same small object: no engine, no context of tools, no cycle.
 */

/** Node calls the method of this name when it prints an object. No import of Node is needed. */
export const inspected = Symbol.for("nodejs.util.inspect.custom")

/** Node's own printer, as such a method gets it. */
export type Inspect = (value: unknown, options?: object) => string

/** The text `Name { field: value }`. */
export const printed = (name: string, fields: object, options: object, inspect: Inspect): string =>
  `${name} ${inspect(fields, options)}`
