/**
 * Refuses an engine that lacks functions the packages call, with one sentence in place of a `TypeError` later.
 *
 * @module
 */

/** The functions of the language that came last, by their names. */
const required = {
  "Object.groupBy": () => Reflect.get(Object, "groupBy"),
  "Promise.withResolvers": () => Reflect.get(Promise, "withResolvers"),
  "Set.prototype.isSubsetOf": () => Reflect.get(Set.prototype, "isSubsetOf")
}

/** Throws unless this engine has every required function. */
export const checkEngine = (): void => {
  const missing = Object.entries(required).find(([, found]) => typeof found() !== "function")?.[0]
  if (missing === undefined) return
  const { process } = globalThis as { readonly process?: { readonly version?: string } }
  const name = process?.version === undefined ? "This engine" : `Node ${process.version}`
  throw new Error(
    `Troupe needs Node 22.19 or later, or a browser of 2025: ${name} has no ${missing}. Install a newer version.`
  )
}
