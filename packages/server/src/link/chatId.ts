/**
 * Ids of chats: the client's id, and the Troupe's id.
 *
 * CHATID1. Two owners never share an id of the Troupe, whatever their names and ids are.
 */
import { HttpError } from "../errors/index.ts"

/** Makes the Troupe's id of an owner's chat. */
export type ChatId = (owner: string, id: string) => string

/** The text before the first slash is the owner's part, which contains no slash. */
export const ownedId: ChatId = (owner, id) => `${ownerPart(owner)}/${id}`

const ownerPart = (owner: string): string =>
  owner.replaceAll(/[%/]|\p{Surrogate}/gu, (unit) =>
    unit === "%" ? "%25" : unit === "/" ? "%2F" : `%u${unit.charCodeAt(0).toString(16)}`
  )

const longest = 256

const isStorable = (name: string): boolean => name.length <= longest && name.isWellFormed() && !/\p{Cc}/u.test(name)

/**
 * Throws an `HttpError` (403) for an owner's name that cannot be stored, and a `TypeError` for a value that is no name.
 */
export const checkedOwner = (owner: unknown): string => {
  if (typeof owner !== "string" || owner === "") throw new TypeError("authorize names an owner by a text")
  if (isStorable(owner)) return owner
  throw new HttpError(
    "invalid_owner",
    `The owner that \`authorize\` named cannot be stored: a name is text of 1 to ${longest} characters, without control characters or half surrogate pairs`
  )
}

/**
 * Throws an `HttpError` for an invalid id. An id is text of 1 to 256 characters, without control characters, and not only
 * dots.
 */
export const checkedId = (id: string): string => {
  if (id !== "" && isStorable(id) && id !== "." && id !== "..") return id
  throw new HttpError(
    "invalid_id",
    `An id of a conversation is text of 1 to ${longest} characters, without control characters, and neither "." nor ".."`
  )
}

/**
 * The part of a path for an id. A URL drops parts of one or two dots, also encoded ones, and half of a surrogate pair has no encoding.
 *
 * Throws an `HttpError` (`invalid_input`) for such an id.
 */
export const pathPart = (field: string, id: string): string => {
  if (id !== "" && id !== "." && id !== ".." && id.isWellFormed()) return encodeURIComponent(id)
  const reason = 'must_be_a_text without half surrogate pairs, and neither empty nor "." nor ".."'
  throw new HttpError("invalid_input", "A path cannot have this id; `issues` says why", {
    issues: [{ field: [field], reason }]
  })
}
