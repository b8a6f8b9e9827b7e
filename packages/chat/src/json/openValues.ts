/**
 * The values of lists and objects of a JSON text whose ends were not read.
 *
 * PARTIAL3. A value never changes after it was given. Values share the lists and objects that are closed.
 * PARTIAL4. A character costs the same in a long text as in a short one. An open list or object of 1,024 members or more
 *           shows its members in blocks of about a hundredth, and only whole ones.
 */

/** A list or an object whose end was not read. `copy` is its value with these many members. */
export type Open = { copy?: { readonly members: number; readonly value: unknown } } & (
  | { readonly type: "list"; readonly items: Array<unknown> }
  /** `keys` are the fields in the order of the text, `key` the field that is read. */
  | { readonly type: "object"; readonly fields: Record<string, unknown>; readonly keys: Array<string>; key: string }
)

/** From this number of members on, a list or an object shows its members in blocks (PARTIAL4). */
const many = 1_024

/** Sets a field of any name, `__proto__` too. */
export const set = (object: Record<string, unknown>, key: string, value: unknown): void => {
  if (key !== "__proto__") object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}

const membersOf = (open: Open): number => (open.type === "list" ? open.items : open.keys).length

/** Whether a list or an object shows its members in blocks. */
export const isLarge = (open: Open): boolean => membersOf(open) >= many

/** The present value of an open list or object, whose last member is `inner` if that has a value (PARTIAL3). */
export const valueOf = (open: Open, inner: unknown): unknown => {
  const all = membersOf(open)
  const members = all < many ? all : all - (all % 2 ** (Math.floor(Math.log2(all)) - 6))
  if (inner === undefined && open.copy?.members === members) return open.copy.value
  const value = open.type === "list" ? listOf(open.items, members, inner) : objectOf(open, members, inner)
  if (inner === undefined) open.copy = { members, value }
  return value
}

const listOf = (items: ReadonlyArray<unknown>, members: number, inner: unknown): ReadonlyArray<unknown> => {
  const list = items.slice(0, members)
  if (inner !== undefined) list.push(inner)
  return list
}

const objectOf = (open: Extract<Open, { readonly type: "object" }>, members: number, inner: unknown): object => {
  const { fields, keys, key } = open
  const object: Record<string, unknown> = members === keys.length ? { ...fields } : {}
  if (members < keys.length) for (const known of keys.slice(0, members)) set(object, known, fields[known])
  if (inner !== undefined) set(object, key, inner)
  return object
}
