/**
 * Ids of chats: what a client may call one, and what the Troupe calls it.
 *
 * CHATID1. Two owners never have an id of the Troupe in common, whatever their names and ids are.
 */
import { HttpError } from "../errors/index.ts"

/** Makes the Troupe's id of an owner's chat. */
export type ChatId = (owner: string, id: string) => string

/** Only the text before the first slash is the owner's, and no slash is left in it. */
export const ownedId: ChatId = (owner, id) => `${ownerPart(owner)}/${id}`

const ownerPart = (owner: string): string =>
  owner.replaceAll(/[%/]|\p{Surrogate}/gu, (unit) =>
    unit === "%" ? "%25" : unit === "/" ? "%2F" : `%u${unit.charCodeAt(0).toString(16)}`
  )

const longest = 256

const isStorable = (name: string): boolean => name.length <= longest && name.isWellFormed() && !/\p{Cc}/u.test(name)

/**
 * Throws an `HttpError` (403) for the name of an owner that no store keeps, and a `TypeError` for what is no name at all.
 */
export const checkedOwner = (owner: unknown): string => {
  if (typeof owner !== "string" || owner === "") throw new TypeError("authorize names an owner by a text")
  if (isStorable(owner)) return owner
  throw new HttpError(
    "invalid_owner",
    `The owner that \`authorize\` named cannot be stored: a name is text of 1 to ${longest} characters, without control characters or half surrogate pairs`
  )
}

/** Throws an `HttpError` for what is no id: text of 1 to 256 characters, none of them a control character, and no dots alone. */
export const checkedId = (id: string): string => {
  if (id !== "" && isStorable(id) && id !== "." && id !== "..") return id
  throw new HttpError(
    "invalid_id",
    `An id of a conversation is text of 1 to ${longest} characters, without control characters, and neither "." nor ".."`
  )
}
