import { expect, test } from "vitest"
import { HttpError } from "../../src/errors/HttpError.ts"
import { checkedId, ownedId } from "../../src/link/chatId.ts"

const letters = ["a", "/", "%", "2", "F", "u", "\ud800"]

/** All texts of these letters, up to a length. */
const texts = (longest: number): ReadonlyArray<string> =>
  longest === 0 ? [""] : ["", ...texts(longest - 1).flatMap((text) => letters.map((letter) => letter + text))]

test("CHATID1 no two owners have an id in common, and no owner two ids", () => {
  const owners = new Set(texts(3).filter((owner) => owner !== ""))
  const ids = new Set(texts(2))
  const made = new Set([...owners].flatMap((owner) => [...ids].map((id) => ownedId(owner, id))))
  expect(made.size).toBe(owners.size * ids.size)
})

test("CHATID1 what an owner's ids begin with is what no other's do", () => {
  const prefixes = [...new Set(texts(3).filter((owner) => owner !== ""))].map((owner) => ownedId(owner, ""))
  const sorted = prefixes.toSorted()
  expect(sorted.filter((prefix, index) => sorted[index + 1]?.startsWith(prefix))).toEqual([])
})

test.each(["a", "c/1", "ä", "日本", "a b", "...", "%2e%2e", "a".repeat(256)])("%j is an id", (id) => {
  expect(checkedId(id)).toBe(id)
})

test.each(["", ".", "..", "a\n", "\u0000", "\u007f", "\u0085", "\ud800", "a".repeat(257)])("%j is no id", (id) => {
  expect(() => checkedId(id)).toThrow(HttpError)
})
