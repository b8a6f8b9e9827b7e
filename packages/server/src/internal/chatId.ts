/**
 * Ids of chats: what a client may call one, and what the Troupe calls it.
 *
 * CHATID1. Two owners never have an id of the Troupe in common, whatever their names and ids are.
 */
import { HttpError } from "../HttpError.ts"

/** Makes the Troupe's id of an owner's chat. */
export type ChatId = (owner: string, id: string) => string

/** Only the text before the first slash is the owner's, and no slash is left in it. */
export const ownedId: ChatId = (owner, id) => `${ownerPart(owner)}/${id}`

const ownerPart = (owner: string): string =>
  owner.replaceAll(/[%/]|\p{Surrogate}/gu, (unit) =>
    unit === "%" ? "%25" : unit === "/" ? "%2F" : `%u${unit.charCodeAt(0).toString(16)}`
  )

const longest = 256

/** Throws an `HttpError` for what is no id: text of 1 to 256 characters, none of them a control character, and no dots alone. */
export const checkedId = (id: string): string => {
  if (id !== "" && id.length <= longest && id.isWellFormed() && id !== "." && id !== ".." && !/\p{Cc}/u.test(id))
    return id
  throw new HttpError(
    "invalid_id",
    `An id of a conversation is text of 1 to ${longest} characters, without control characters, and neither "." nor ".."`
  )
}
