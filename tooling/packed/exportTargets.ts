/**
 * The target files of a manifest's `exports`.
 *
 * @module
 */

/** Every path in an `exports` value, with patterns as they are; closed subpaths (`null`) have none. */
export const exportTargets = (exported: unknown): ReadonlyArray<string> => {
  if (typeof exported === "string") return [exported]
  if (typeof exported !== "object" || exported === null) return []
  return [...new Set(Object.values(exported).flatMap(exportTargets))]
}
