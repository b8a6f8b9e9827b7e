/**
 * The messages of a conversation as items of OpenAI's responses.
 *
 * RESPLIST1. The id of an item names its message, so it stays the same while the conversation goes on. A request that has such an
 *            id continues there, as with the ids of a response (RESPID1).
 */
import type { ContentPart, Message } from "@troupe/chat/messages"
import * as z from "zod"
import { HttpError, quoted } from "../../errors/index.ts"
import { urlOfSource } from "../../access/index.ts"
import { isSaid, isStep, stepsOf } from "../index.ts"
import { ResponseItems } from "./responseItems.ts"
import { idsOf, longestId } from "./responseIds.ts"

type Messages = ReadonlyArray<Message.Message>

/** An item with its id. */
export interface ThreadItem {
  readonly type: string
  readonly id: string
  readonly [field: string]: unknown
}

/** The parameters of a list of items. */
export const ItemsQuery = z.looseObject({
  limit: z.coerce.number().int().min(1).max(100).optional(),
  order: z.enum(["asc", "desc"]).optional(),
  after: z.string().max(longestId).optional()
})

/**
 * The items of the messages from an index up to another.
 *
 * **Details**: instructions, what no person said, and the calls of the server's own tools have no items.
 */
export const threadItems = (
  conversation: string,
  messages: Messages,
  isManual: (name: string) => boolean,
  from = 0,
  to = messages.length
): ReadonlyArray<ThreadItem> => {
  const items: Array<ThreadItem> = []
  const calls = new Map<string, string>()
  for (let at = 0; at < to; at++) {
    const message = messages[at]
    if (message === undefined) continue
    const ids = idsOf({ conversation, at, created: 0, model: "" })
    if (isStep(message)) {
      for (const { id } of message.toolCalls ?? []) calls.set(id, ids.call(id))
      if (at < from) continue
      const step = new ResponseItems(ids, isManual)
      for (const one of stepsOf(messages.slice(at, endOfStep(messages, at)))) step.step(one)
      items.push(...step.output.map((item): ThreadItem => ({ ...item })))
    } else if (at >= from && isSaid(message)) items.push(saidItem(ids.item("msg", 0), message))
    else if (at >= from && message.role === "tool" && message.outcome === undefined) {
      const call_id = calls.get(message.toolCallId) ?? ids.call(message.toolCallId)
      const output = typeof message.content === "string" ? message.content : message.content.map(inputPart)
      items.push({ type: "function_call_output", id: ids.item("fc", 0), call_id, output, status: "completed" })
    }
  }
  return items
}

/** The index behind a step and its results. */
const endOfStep = (messages: Messages, at: number): number => {
  for (let end = at + 1; ; end++) {
    const message = messages[end]
    if (message === undefined || isStep(message) || isSaid(message)) return end
  }
}

const saidItem = (id: string, { content }: Extract<Message.Message, { role: "user" }>): ThreadItem => {
  const parts = typeof content === "string" ? [{ type: "text", text: content } as const] : content
  return { type: "message", id, role: "user", status: "completed", content: parts.map(inputPart) }
}

const inputPart = (part: ContentPart) => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: "input_text", text: part.text }
    case "image": {
      const { image, detail = "auto" } = part
      return {
        type: "input_image",
        detail,
        file_id: null,
        image_url: urlOfSource(image, "mediaType" in image ? image.mediaType : "")
      }
    }
    case "file": {
      const { file, mediaType, filename } = part
      const data = { ["base64" in file ? "file_data" : "file_url"]: urlOfSource(file, mediaType) }
      return { type: "input_file", ...data, ...(filename === undefined ? {} : { filename }) }
    }
  }
}

/** One page of a list. Throws an `HttpError` (404) for an `after` that is no item of the list. */
export const pageOf = (
  items: ReadonlyArray<ThreadItem>,
  { limit = 20, order = "desc", after }: z.infer<typeof ItemsQuery>
) => {
  const all = order === "asc" ? items : items.toReversed()
  const known = after === undefined ? -1 : all.findIndex(({ id }) => id === after)
  if (after !== undefined && known === -1) throw noItem(after)
  const data = all.slice(known + 1, known + 1 + limit)
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: known + 1 + limit < all.length
  }
}

/** The refusal of an item that a list does not have. */
export const noItem = (id: string): HttpError =>
  new HttpError("not_found", `There is no item ${quoted(id)} in this list`)
