/** JSON Patch (RFC 6902): the operations that make one JSON value from another. */

export type PatchOperation =
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown }
  | { readonly op: "remove"; readonly path: string }

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** The path of a member. */
const below = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`

/** The operations that make `after` from `before`. */
export const patchOf = (before: unknown, after: unknown, path = ""): ReadonlyArray<PatchOperation> => {
  if (before === after) return []
  if (isObject(before) && isObject(after)) return ofObjects(before, after, path)
  if (Array.isArray(before) && Array.isArray(after)) return ofArrays(before, after, path)
  return [{ op: "replace", path, value: after }]
}

const ofObjects = (before: Json, after: Json, path: string): ReadonlyArray<PatchOperation> => [
  ...Object.keys(before).flatMap((name): ReadonlyArray<PatchOperation> =>
    Object.hasOwn(after, name) ? [] : [{ op: "remove", path: below(path, name) }]
  ),
  ...Object.entries(after).flatMap(([name, value]): ReadonlyArray<PatchOperation> =>
    Object.hasOwn(before, name)
      ? patchOf(before[name], value, below(path, name))
      : [{ op: "add", path: below(path, name), value }]
  )
]

/** Items are compared by their index. Removed items are at the end, and the last one is removed first. */
const ofArrays = (
  before: ReadonlyArray<unknown>,
  after: ReadonlyArray<unknown>,
  path: string
): ReadonlyArray<PatchOperation> => {
  const operations = after.flatMap((item, index): ReadonlyArray<PatchOperation> =>
    index < before.length
      ? patchOf(before[index], item, below(path, index))
      : [{ op: "add", path: below(path, index), value: item }]
  )
  for (let index = before.length - 1; index >= after.length; index--) {
    operations.push({ op: "remove", path: below(path, index) })
  }
  return operations
}
