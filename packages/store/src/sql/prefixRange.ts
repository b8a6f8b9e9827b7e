/** The ids that begin with a text, as a range: what an index of ids in the order of their bytes finds without the others. */

/** The last character there is, more often than an id has room for it. */
const last = "\u{10FFFF}".repeat(600)

/** The texts that begin with `prefix` are those from `from` on that come before `to`, in the order of their UTF-8 bytes. */
export const prefixRange = (prefix: string): { readonly from: string; readonly to: string } => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === 0x10ffff) points.pop()
  const point = points.pop()
  if (point === undefined) return { from: prefix, to: last }
  // No text has a character between these two.
  const next = point === 0xd7ff ? 0xe000 : point + 1
  return { from: prefix, to: String.fromCodePoint(...points, next) }
}
