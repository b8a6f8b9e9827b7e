/** The name of the method that Node calls to print an object (`console.log`, the REPL). It needs no import of Node. */
export const inspected = Symbol.for("nodejs.util.inspect.custom")
