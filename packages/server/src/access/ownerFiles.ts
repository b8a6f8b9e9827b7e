/**
 * The bound of the images and files that the conversations of an owner have in the store together.
 *
 * OWNERFILES1. When the stored images and files of an owner's conversations and those of a request exceed `fileBytes`, the request is
 *              refused before its chat has it. So is a fork, which has those of its origin. A request without them is answered.
 * OWNERFILES2. The sum is a query of the store, and no count: a deletion makes room at once, and every program of a cluster has the same.
 */
import type { RunningTroupe } from "@troupe/chat"
import { HttpError } from "../errors/index.ts"

/** Throws an `HttpError` (429) when the conversations with this prefix have no room for so many bytes more. */
export const checkRoom = async (
  troupe: RunningTroupe,
  prefix: string,
  fileBytes: number,
  more: () => number | Promise<number | undefined>
): Promise<void> => {
  const bytes = fileBytes === Number.MAX_SAFE_INTEGER ? 0 : ((await more()) ?? 0)
  if (bytes === 0) return
  const stored = await troupe.fileBytes(prefix)
  if (stored === undefined || stored + bytes <= fileBytes) return
  throw new HttpError(
    "too_many_bytes",
    `Your conversations have images and files of ${stored} bytes, and at most ${fileBytes} are kept; delete conversations, or send https: URLs`
  )
}

/** The fewest characters of base64 text whose bytes a chat stores outside of its messages. */
const fewest = 16_384

/** The bytes of the base64 texts in the values of a body, as far as a chat stores them outside of its messages. */
export const fileBytesIn = (value: unknown): number => {
  if (typeof value === "string") {
    return value.length >= fewest && isBase64(value) ? Math.floor((value.length * 3) / 4) : 0
  }
  if (typeof value !== "object" || value === null) return 0
  return Object.values(value).reduce<number>((sum, one) => sum + fileBytesIn(one), 0)
}

/** Whether a text is base64, alone or in a `data:` URL. A pattern of all its characters would need a stack as large as the text. */
const isBase64 = (text: string): boolean => {
  const from = text.startsWith("data:") ? text.indexOf(",") + 1 : 0
  return !/[^\w+/=-]/u.test(from === 0 ? text : text.slice(from))
}
