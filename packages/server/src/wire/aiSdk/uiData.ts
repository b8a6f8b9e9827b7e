/**
 * The data parts of a user's message.
 *
 * UIDATA1. A message keeps the data parts that its sender gave it, at their places. They are stored with the message, and no
 *          model gets them. Together they have at most `messageCharacters` characters.
 */
import type { Message } from "@troupe/chat/messages"
import * as z from "zod"
import { checkedAnswer, sentData } from "../index.ts"

const DataPart = z.object({
  type: z.templateLiteral(["data-", z.string()]),
  id: z.string().optional(),
  data: z.unknown()
})

/** A part with data of the program. */
export type UiDataPart = z.infer<typeof DataPart>

/** The stored form: the part, and the number of parts of the content before it. */
const Placed = z.array(z.object({ at: z.int().min(0), part: DataPart }))

/**
 * The data among the parts of a message; `isContent` is whether a part becomes content. `undefined` without any. Throws an
 * `HttpError` (413).
 */
export const dataIn = <Part extends { readonly type: string }>(
  parts: ReadonlyArray<Part>,
  isContent: (part: Part) => boolean,
  mostCharacters: number
): z.infer<typeof Placed> | undefined => {
  const found = parts.flatMap((part, index) => {
    const { data } = DataPart.safeParse(part)
    return data === undefined ? [] : [{ at: parts.slice(0, index).filter(isContent).length, part: data }]
  })
  return found.length === 0 ? undefined : checkedAnswer(found, mostCharacters)
}

/** The parts of a message's content, with its data at their places. */
export const withData = <Part>(
  message: Message.Message,
  parts: ReadonlyArray<Part>
): ReadonlyArray<Part | UiDataPart> => {
  const { data: placed = [] } = Placed.safeParse(sentData(message))
  const dataAt = (index: number) => placed.flatMap(({ at, part }) => (at === index ? [part] : []))
  const behind = placed.flatMap(({ at, part }) => (at >= parts.length ? [part] : []))
  return [...parts.flatMap((part, index) => [...dataAt(index), part]), ...behind]
}
