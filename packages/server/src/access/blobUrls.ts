/**
 * The images and files that a store has: their URLs in the messages that clients read, and the bound of those of an owner.
 *
 * BLOBURL1. In a view, in events and in the messages of each protocol a reference has the URL of the route that answers with its bytes. The URL
 *           is a path of this server, so that a page behind any proxy can load it.
 * OWNERFILES1. When the stored images and files of an owner's conversations and those of a request exceed `fileBytes`, the request is
 *              refused before its chat has it. So is a fork, which has those of its origin. A request without them is answered.
 * OWNERFILES2. The sum is a query of the store, and no count: a deletion makes room at once, and every program of a cluster has the same.
 */
import type { ChatSnapshot } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { ContentPart, Message } from "@troupe/chat/messages"
import type { Shown } from "./toolErrors.ts"
import type { RunningTroupe } from "@troupe/chat"
import { HttpError } from "../errors/index.ts"

type Messages = ChatSnapshot["context"]["thread"]["messages"]

/** The path of a blob in the chat of this request, or in the one with this id of the Troupe. */
export type PathOf = (blob: string, chat?: string) => string

/** The filter, with the URLs of blobs. */
export const withBlobUrls = (shown: Shown, pathOf: PathOf): Shown => {
  const threadIn = <A extends { readonly thread: { readonly messages: Messages } }>(given: A, chat?: string): A => {
    const { messages } = given.thread
    const located = locatedIn(messages, (blob) => pathOf(blob, chat))
    return located === messages ? given : { ...given, thread: { ...given.thread, messages: located } }
  }
  return {
    ...shown,
    context: (given) => threadIn(shown.context(given), given.id),
    result: (given) => threadIn(shown.result(given)),
    snapshot: (snapshot) => {
      const found = shown.snapshot(snapshot)
      if (found === undefined) return undefined
      const context = threadIn(found.context, found.context.id)
      return context === found.context ? found : { ...found, context }
    },
    events: (reader) => {
      const event = shown.events(reader)
      return (given) => {
        const found = event(given)
        if (found.type === "step_completed") return threadIn(found)
        if (found.type === "chat_completed") return { ...found, result: threadIn(found.result) }
        return locatedEvent(found, given, pathOf)
      }
    }
  }
}

/** The messages with URLs, and the path that they are for. */
interface Located {
  readonly path: string
  readonly messages: Messages
}

const located = new WeakMap<Messages, Located>()
const parts = new WeakMap<object, { readonly path: string; readonly part: object }>()

const locatedIn = (messages: Messages, urlOf: (blob: string) => string): Messages => {
  const known = located.get(messages)
  if (known !== undefined && known.path === urlOf("")) return known.messages
  const found = messages.some(hasBlob) ? messages.map((message) => locatedMessage(message, urlOf)) : messages
  located.set(messages, { path: urlOf(""), messages: found })
  return found
}

/** An event of a reply, of a result or of a sub-agent, whose chat has the blobs; `given` is the event with the id of the Troupe. */
const locatedEvent = (event: Event, given: Event, pathOf: PathOf, chat?: string): Event => {
  const urlOf = (blob: string): string => pathOf(blob, chat)
  switch (event.type) {
    case "message_completed":
      return hasBlob(event.message)
        ? { ...event, message: locatedMessage(event.message, urlOf) as typeof event.message }
        : event
    case "tool_execution_completed": {
      const result = locatedFields(event.result, urlOf)
      return result === event.result ? event : { ...event, result }
    }
    case "tool_result_encoded":
    case "tool_halt":
      return locatedFields(event, urlOf)
    case "child_event": {
      if (given.type !== "child_event") return event
      const child = locatedEvent(event.event, given.event, pathOf, given.chat)
      return child === event.event ? event : { ...event, event: child }
    }
    default:
      return event
  }
}

/** A result or its event, with URLs in its lists of parts. */
const locatedFields = <A extends object>(given: A, urlOf: (blob: string) => string): A => {
  const lists = Object.entries(given).filter(
    (field): field is [string, ReadonlyArray<Part>] => Array.isArray(field[1]) && field[1].some(isPart)
  )
  if (lists.length === 0) return given
  const withUrls = lists.map(([field, list]) => [
    field,
    list.map((part) => (isPart(part) ? locatedPart(part, urlOf) : part))
  ])
  return { ...given, ...Object.fromEntries(withUrls) }
}

interface Part {
  readonly type: string
}

/** Whether an element of any list is an image or a file that the store has. */
const isPart = (value: unknown): value is Part =>
  isRecord(value) &&
  (value["type"] === "image" || value["type"] === "file") &&
  isRecord(value[value["type"]]) &&
  isStored(value as { readonly type: string })

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const hasBlob = (message: Message.Message): boolean =>
  (typeof message.content !== "string" && message.content.some(isStored)) ||
  (message.role === "assistant" && message.parts?.some(isStored) === true)

const isStored = (part: { readonly type: string }): boolean =>
  (part.type === "image" || part.type === "file") && "blob" in (Reflect.get(part, part.type) as object)

const memo = <A extends object>(value: A, path: string, make: () => A): A => {
  const known = parts.get(value)
  if (known?.path === path) return known.part as A
  const part = make()
  parts.set(value, { path, part })
  return part
}

const locatedMessage = (message: Message.Message, urlOf: (blob: string) => string): Message.Message => {
  if (!hasBlob(message)) return message
  return memo(message, urlOf(""), () => {
    const one = <P extends { readonly type: string }>(part: P): P => (isStored(part) ? locatedPart(part, urlOf) : part)
    const content = typeof message.content === "string" ? message.content : message.content.map(one)
    const own = message.role === "assistant" && message.parts !== undefined ? { parts: message.parts.map(one) } : {}
    return { ...message, content, ...own } as Message.Message
  })
}

const locatedPart = <P extends { readonly type: string }>(part: P, urlOf: (blob: string) => string): P => {
  const source = Reflect.get(part, part.type) as {
    readonly blob: string
    readonly bytes: number
    readonly mediaType?: string
  }
  const { mediaType = source.mediaType ?? "" } = part as { readonly mediaType?: string }
  const query = new URLSearchParams({ type: mediaType, bytes: String(source.bytes) })
  return { ...part, [part.type]: { ...source, url: `${urlOf(source.blob)}?${query}` } }
}

/** The source of an image or a file, as messages have it that clients read. */
export type ShownSource =
  | Extract<ContentPart, { type: "image" }>["image"]
  | Extract<ContentPart, { type: "file" }>["file"]

/** The URL of a source: its own, that of its blob, or a `data:` URL. */
export const urlOfSource = (source: ShownSource, mediaType: string): string => {
  if ("url" in source) return source.url
  return "base64" in source ? `data:${mediaType};base64,${source.base64}` : ""
}

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
