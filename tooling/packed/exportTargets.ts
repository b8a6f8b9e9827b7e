/**
 * The files that a manifest's `exports` lead to.
 *
 * @module
 */

/** Every path in an `exports` value, patterns as they are; subpaths that are closed (`null`) have none. */
export const exportTargets = (exported: unknown): ReadonlyArray<string> => {
  if (typeof exported === "string") return [exported]
  if (typeof exported !== "object" || exported === null) return []
  return [...new Set(Object.values(exported).flatMap(exportTargets))]
}
