/** Converts a prefix to a range of ids, which an index in byte order finds without reading other ids. */

/** The last character of Unicode, repeated more often than an id can contain it. */
const last = "\u{10FFFF}".repeat(600)

/** Texts with the prefix `prefix` are at or after `from` and before `to`, in the order of their UTF-8 bytes. */
export const prefixRange = (prefix: string): { readonly from: string; readonly to: string } => {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0)
  while (points.at(-1) === 0x10ffff) points.pop()
  const point = points.pop()
  if (point === undefined) return { from: prefix, to: last }
  // Surrogates: no well-formed text has a character between these two.
  const next = point === 0xd7ff ? 0xe000 : point + 1
  return { from: prefix, to: String.fromCodePoint(...points, next) }
}
