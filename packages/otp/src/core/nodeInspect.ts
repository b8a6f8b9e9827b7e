/** Node calls the method of this name when it prints an object: `console.log`, `util.inspect`, the REPL. No import of Node is needed. */
export const inspected = Symbol.for("nodejs.util.inspect.custom")
