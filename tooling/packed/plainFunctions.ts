/**
 * Writes the arrow functions of a bundle's top level as plain functions.
 *
 * V8 only scans the body of a plain function until the function is called. The body of an arrow function that is an expression is parsed
 * at once, and again when it is called. That is a fifth of the time that a bundle of thousands of small functions takes to load.
 *
 * A function of the top level has no `this` of its module, so both forms do the same.
 *
 * @module
 */

/** A variable of the top level, and the parameters of its arrow function, as esbuild writes them on one line. */
const opening = /^(var \w+ = )(async )?\(([^()]*)\) => (.*)$/

/** The code with plain functions. Its lines stay where they are. */
export const plainFunctions = (code: string): string => {
  const lines = code.split("\n")
  lines.forEach((line, at) => {
    const [, name, isAsync = "", parameters, body] = opening.exec(line) ?? []
    if (body === undefined) return
    if (body === "{") lines[at] = `${name}${isAsync}function(${parameters}) {`
    else if (!body.startsWith("{") && body.endsWith(";")) {
      lines[at] = `${name}${isAsync}function(${parameters}) { return ${body} };`
    }
  })
  return lines.join("\n")
}
