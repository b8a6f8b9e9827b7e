/**
 * A list of entries with ids, which mostly holds few.
 *
 * A chart has one or two children and timers at a time. The entries link to each other, so that adding and removing one
 * allocates nothing.
 *
 * LINKED1. The entries are in the order of adding. An entry that replaces one with the same id takes its place.
 * LINKED2. Up to eight entries are found by comparing ids. From the ninth on the entries are in a `Map`.
 */
const mostLinked = 8

/** A thing with an id, in at most one list. */
export interface Entry<E> {
  readonly id: string
  next: E | undefined
}

/** The first entry, or a map of many; `undefined` without entries. */
export type Entries<E extends Entry<E>> = E | Map<string, E> | undefined

/** The entry with an id. */
export const entryOf = <E extends Entry<E>>(entries: Entries<E>, id: string): E | undefined => {
  if (entries instanceof Map) return entries.get(id)
  let entry = entries
  while (entry !== undefined && entry.id !== id) entry = entry.next
  return entry
}

/** The list with one more entry. */
export const withEntry = <E extends Entry<E>>(entries: Entries<E>, added: E): Entries<E> => {
  if (entries === undefined) return added
  if (entries instanceof Map) return entries.set(added.id, added)
  let count = 1
  let before: E | undefined = undefined
  let entry: E = entries
  for (;;) {
    if (entry.id === added.id) {
      added.next = entry.next
      entry.next = undefined
      if (before === undefined) return added
      before.next = added
      return entries
    }
    if (entry.next === undefined) break
    before = entry
    entry = entry.next
    count++
  }
  entry.next = added
  return count < mostLinked ? entries : mapOf(entries)
}

/** The list without the entry with an id. */
export const withoutEntry = <E extends Entry<E>>(entries: Entries<E>, id: string): Entries<E> => {
  if (entries instanceof Map) {
    entries.delete(id)
    return entries.size === 0 ? undefined : entries
  }
  let before: E | undefined = undefined
  for (let entry = entries; entry !== undefined; before = entry, entry = entry.next) {
    if (entry.id !== id) continue
    const { next } = entry
    entry.next = undefined
    if (before === undefined) return next
    before.next = next
    return entries
  }
  return entries
}

const none: ReadonlyArray<never> = []

/** The entries at present: a copy. */
export const allEntries = <E extends Entry<E>>(entries: Entries<E>): ReadonlyArray<E> => {
  if (entries === undefined) return none
  if (entries instanceof Map) return Array.from(entries.values())
  if (entries.next === undefined) return [entries]
  const all: Array<E> = []
  for (let entry: E | undefined = entries; entry !== undefined; entry = entry.next) all.push(entry)
  return all
}

const mapOf = <E extends Entry<E>>(first: E): Map<string, E> => {
  const map = new Map<string, E>()
  let entry: E | undefined = first
  while (entry !== undefined) {
    const { next }: E = entry
    entry.next = undefined
    map.set(entry.id, entry)
    entry = next
  }
  return map
}
