/**
 * OpenAI's conversations, the items of a response's input, and the deletion of both.
 *
 * RESPDEL1. Deleting a response rewinds its conversation to before its input. It needs the right `rewind`, and the response is the
 *           last one. Deleting a conversation, and a response that is all of it, removes it with its log, and needs the right
 *           `delete`.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { Message } from "@troupe/chat/messages"
import * as z from "zod"
import { check } from "../../access/index.ts"
import { HttpError } from "../../errors/index.ts"
import { type Call, queryOf, type Route } from "../../http/index.ts"
import { before, rewound } from "../../wire/index.ts"
import {
  checkItems,
  checkParameters,
  checkResults,
  extentOf,
  InputItems,
  ItemsQuery,
  knownResponse,
  messagesOf,
  noItem,
  ofRefusal,
  pageOf,
  responseOf,
  type ThreadItem,
  threadItems
} from "../../wire/openAi/index.ts"
import { withReplyImages } from "./replyImages.ts"
import { responseSplice } from "./responseSplice.ts"

const Create = z.looseObject({
  items: InputItems.max(20).nullish(),
  metadata: z.record(z.string(), z.never("is not supported here; leave it out")).nullish()
})

const conversation = (call: Call, id: string, createdAt: number) => ({
  id: call.chats.outerId(id),
  object: "conversation",
  created_at: createdAt,
  metadata: {}
})

const secondsOf = (ms: number): number => Math.floor(ms / 1_000)

/** Begins a conversation with these messages, or an empty one. */
const create = async (call: Call): Promise<Response> => {
  const body = await call.body(Create)
  checkParameters(body, Create)
  const { items } = body
  checkItems(items ?? [])
  const thread = messagesOf(items ?? [], call.limits.messageCharacters)
  checkResults(thread, "items")
  const chat = await call.chats.begun(undefined, (id) => call.troupe.begin(thread, { id }))
  return Response.json(conversation(call, chat.id, secondsOf(call.troupe.system.clock.now())))
}

const idOf = ({ params }: Call): string => params["id"] ?? ""

const messagesIn = (call: Call, chat: LocalChatRef): ReadonlyArray<Message.Message> =>
  call.shown.snapshot(chat.getSnapshot())?.context.thread.messages ?? []

/** The time of the first entry of the log is that of the conversation. */
const read = async (call: Call): Promise<Response> => {
  const chat = await call.chats.existing(idOf(call))
  const [first] = await call.troupe.history(chat.id, { limit: 1 })
  return Response.json(conversation(call, chat.id, secondsOf(first?.at ?? 0)))
}

/** RESPDEL1. */
const remove = async (call: Call): Promise<Response> => {
  check(call.may, "delete")
  const { id } = await call.chats.existing(idOf(call))
  await call.troupe.delete(id)
  return Response.json({ id: idOf(call), object: "conversation.deleted", deleted: true })
}

const itemsOf = async (
  call: Call,
  chat: LocalChatRef,
  from?: number,
  to?: number
): Promise<ReadonlyArray<ThreadItem>> => {
  const servers = new Set(call.troupe.tools.flatMap(({ name, manual }) => (manual ? [] : [name])))
  const id = call.chats.outerId(chat.id)
  const messages = await withReplyImages(call, chat, messagesIn(call, chat))
  return threadItems(id, messages, (name) => !servers.has(name), from, to)
}

const items = async (call: Call): Promise<Response> => {
  const query = queryOf(call.url, ItemsQuery)
  return Response.json(pageOf(await itemsOf(call, await call.chats.existing(idOf(call))), query))
}

const item = async (call: Call): Promise<Response> => {
  const itemId = call.params["item"] ?? ""
  const all = await itemsOf(call, await call.chats.existing(idOf(call)))
  const found = all.find(({ id }) => id === itemId)
  if (found === undefined) throw noItem(itemId)
  return Response.json(found)
}

const inputItems = async (call: Call): Promise<Response> => {
  const query = queryOf(call.url, ItemsQuery)
  const place = knownResponse(idOf(call))
  const chat = await call.chats.existing(place.conversation)
  const { first } = extentOf(messagesIn(call, chat), place.at)
  return Response.json(pageOf(await itemsOf(call, chat, place.at, first), query))
}

/** RESPDEL1. */
const removeResponse = async (call: Call): Promise<Response> => {
  const place = knownResponse(idOf(call))
  const chat = await call.chats.existing(place.conversation)
  const messages = messagesIn(call, chat)
  const context = call.shown.snapshot(chat.getSnapshot())?.context
  const { end } = extentOf(messages, place.at)
  if (context === undefined || end < messages.length) {
    throw new HttpError(
      "invalid_status_for_operation",
      "Later responses continue this one; delete them first, or delete the conversation"
    )
  }
  if (place.at === 0) {
    check(call.may, "delete")
    await call.troupe.delete(chat.id)
  } else await rewound(call, place.conversation, context, before(messages, place.at), true)
  return Response.json({ id: idOf(call), object: "response", deleted: true })
}

const refused = (error: HttpError): Response => responseOf(ofRefusal(error))

export const conversationRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/v1/conversations", handle: create, refused },
  { method: "GET", path: "/v1/conversations/:id", handle: read, refused, follows: responseSplice },
  { method: "DELETE", path: "/v1/conversations/:id", handle: remove, refused },
  { method: "GET", path: "/v1/conversations/:id/items", handle: items, refused, follows: responseSplice },
  { method: "GET", path: "/v1/conversations/:id/items/:item", handle: item, refused, follows: responseSplice },
  { method: "GET", path: "/v1/responses/:id/input_items", handle: inputItems, refused, follows: responseSplice },
  { method: "DELETE", path: "/v1/responses/:id", handle: removeResponse, refused }
]
