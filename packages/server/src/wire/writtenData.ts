/**
 * The data parts that handlers and hooks write into a reply, and the data that is stored with its messages.
 *
 * Owns: the parts of the replies of each chat that are not stored yet, and when its running replies began. Does not own the chats.
 *
 * UIWRITE1. A part that is not transient belongs to the reply of the turn that wrote it: every reader of that reply has it, also one
 *           that loads it later. A part with the type and the id of an earlier one replaces it.
 * UIWRITE2. A transient part reaches only the present readers.
 * UIWRITE3. A part has a JSON form. The parts of a chat have together at most `messageCharacters` characters in memory: those of
 *           the oldest replies are forgotten first. A reader that does not read has at most 100 transient parts waiting, the newest.
 * UIWRITE4. The parts that a turn wrote before the end of a call are stored with the result of that call, at most
 *           `messageCharacters` characters in a turn. A reader has them after a restart, too. Other parts that a turn wrote before the
 *           end of a reply of the model are stored with the message of that reply, also if it is cut off, and within the same limit. So
 *           are the parts that hooks of the turn's end wrote.
 * UIWRITE5. A part of another form, and a part that comes after its turn, is refused with an error that says what to write.
 */
import type { LocalChatRef } from "@troupe/chat"
import { ToolError, ValidationError } from "@troupe/chat/errors"
import { type Message, Usage } from "@troupe/chat/messages"
import type { Response } from "@troupe/chat/models"
import { System } from "@troupe/otp"
import * as z from "zod"
import type { Call, Changes, TurnOptions } from "../http/index.ts"
import { isSaid, isStep, messageName, standingOf } from "./chatReply.ts"

/** A part with data of the program. */
export interface UiWritten {
  /** `data-` and a name that does not begin with `troupe-`. */
  readonly type: `data-${string}`
  /** A later part with this type and id replaces this one. Default: none. */
  readonly id?: string | undefined
  /** The data, which must have a JSON form. */
  readonly data: unknown
  /** Whether the part is not kept; only the present clients get it. Default: `false`. */
  readonly transient?: boolean | undefined
}

/** Writes data parts into the reply of the present turn. */
export interface Writer {
  /**
   * Writes a part.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for a part of another form, without a JSON form, or beyond the
   * limit of `messageCharacters`, and a `ToolError` (`cancelled`) once the turn is over.
   */
  readonly write: (part: UiWritten) => void
}

const Type = z.templateLiteral(["data-", z.string()])

/** A part that is kept. */
const Kept = z.object({ type: Type, id: z.string(), data: z.unknown() })
type Kept = z.infer<typeof Kept>

/** A part as readers get it. */
export interface WrittenPart {
  readonly type: `data-${string}`
  readonly id?: string
  readonly data: unknown
  readonly transient?: true
}

type Listener = (reply: string, part: WrittenPart) => void

interface Sized {
  readonly part: Kept
  readonly characters: number
}

const mostTransient = 100

/** The key of the stored parts in the metadata of a result or a reply. */
const storedKey = "written_data"

const Stored = z.array(Kept)

/** The parts that are stored with a message. */
export const storedData = ({ metadata }: Message.Message): ReadonlyArray<Kept> =>
  metadata?.[storedKey] === undefined ? [] : (Stored.safeParse(metadata[storedKey]).data ?? [])

/**
 * What is stored with a message of the model: when its reply began, when the message ended, the model and the usage of its request,
 * and whether a client was reading then. A field whose value is unknown is absent.
 */
const ReplyPart = z.object({
  startedAt: z.number().optional(),
  endedAt: z.number(),
  model: z.string().optional(),
  usage: Usage.Usage,
  isRead: z.boolean().optional()
})
type ReplyPart = z.infer<typeof ReplyPart>

/** The key of this data in the metadata of a message. */
const partKey = "reply_part"

/** What is stored with the messages of a reply. */
export const replyParts = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<ReplyPart> =>
  messages.flatMap(({ metadata }) => ReplyPart.safeParse(metadata?.[partKey]).data ?? [])

/** Whether a client was reading when the answer to the message of this name ended (READERS4). */
export const isAnswerRead = (messages: ReadonlyArray<Message.Message>, name: string): boolean => {
  const asked = messages.findLastIndex((message, index) => isSaid(message) && messageName(message, index) === name)
  const next = messages.findIndex((message, index) => index > asked && isSaid(message))
  const last = messages.slice(asked + 1, next === -1 ? messages.length : next).findLast(isStep)
  return asked !== -1 && last !== undefined && replyParts([last])[0]?.isRead === true
}

const nameOf = ({ type, id }: WrittenPart): string => JSON.stringify([type, id])

/** The data of one chat. */
class WrittenData {
  readonly #replies = new Map<string, Map<string, Sized>>()
  readonly #listeners = new Set<Listener>()
  readonly #begun = new Map<string, number>()
  #characters = 0

  /** A turn that is not over begins a reply, at this time. A repeated request begins nothing. */
  begins(reply: string, at: number, ended: Promise<void>): void {
    if (this.#begun.has(reply)) return
    this.#begun.set(reply, Math.round(at))
    void ended.then(() => this.#begun.delete(reply))
  }

  /** When a running reply began, if that is known. */
  begunAt(reply: string): number | undefined {
    return this.#begun.get(reply)
  }

  /** The kept parts of a reply: those that are stored with its messages, and those in memory. */
  of(reply: string, messages: ReadonlyArray<Message.Message>): ReadonlyArray<Kept> {
    const parts = new Map(messages.flatMap(storedData).map((part) => [nameOf(part), part]))
    for (const [name, { part }] of this.#replies.get(reply) ?? []) parts.set(name, part)
    return [...parts.values()]
  }

  /** Adds a part to a reply (UIWRITE3). */
  keep(reply: string, { part, characters }: Sized, mostCharacters: number): void {
    const parts = this.#replies.get(reply) ?? new Map<string, Sized>()
    const earlier = parts.get(nameOf(part))?.characters ?? 0
    this.#makeRoom(reply, mostCharacters - characters + earlier)
    this.#characters += characters - earlier
    this.#replies.set(reply, parts.set(nameOf(part), { part, characters }))
    this.notify(reply, part)
  }

  /** Forgets the parts of a reply that begins anew. */
  forget(reply: string): void {
    for (const { characters } of this.#replies.get(reply)?.values() ?? []) this.#characters -= characters
    this.#replies.delete(reply)
  }

  /** Calls the listener for each part. Returns the function that removes it. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  notify(reply: string, part: WrittenPart): void {
    for (const listener of this.#listeners) listener(reply, part)
  }

  /** Forgets the oldest other replies until there are at most so many characters. */
  #makeRoom(reply: string, most: number): void {
    for (const name of this.#replies.keys()) {
      if (this.#characters <= most) return
      if (name === reply) continue
      this.forget(name)
    }
    if (this.#characters > most) throw refused("data", full)
  }
}

const all = new WeakMap<LocalChatRef, WrittenData>()

/** The data of a chat. */
export const writtenDataOf = (chat: LocalChatRef): WrittenData => {
  const known = all.get(chat) ?? new WrittenData()
  all.set(chat, known)
  return known
}

const full = "is too much: the parts of this reply have reached their limit; write less, or transient parts"

const refused = (field: string, reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field: [field], reason }])

const fields = ["type", "id", "data", "transient"]

/** The part in its JSON form, and its characters (UIWRITE5). */
const checked = (given: unknown): { readonly part: WrittenPart; readonly characters: number } => {
  if (typeof given !== "object" || given === null) throw refused("part", 'must be { type: "data-…", data }')
  const unknown = Object.keys(given).find((name) => !fields.includes(name))
  if (unknown !== undefined) throw refused(unknown, `is unknown; a part has ${fields.join(", ")}: write it into data`)
  const { type, id, data, transient } = given as Readonly<Record<string, unknown>>
  if (!isType(type)) throw refused("type", 'must be data- and a name, for example "data-weather"')
  if (type.startsWith("data-troupe-")) throw refused("type", "must not begin with data-troupe-, which Troupe uses")
  if (id !== undefined && (typeof id !== "string" || id === ""))
    throw refused("id", "must be text; leave it out for none")
  if (transient !== undefined && typeof transient !== "boolean") throw refused("transient", "must be true or false")
  const text = jsonOf(data)
  if (text === undefined) throw refused("data", "has no JSON form; write text, numbers, lists or objects, or null")
  const characters = type.length + (id ?? "").length + text.length
  const part = { type, ...(id !== undefined && { id }), data: JSON.parse(text) as unknown }
  return { part: transient === true ? { ...part, transient } : part, characters }
}

const isType = (type: unknown): type is `data-${string}` =>
  typeof type === "string" && type.startsWith("data-") && type !== "data-"

const jsonOf = (data: unknown): string | undefined => {
  try {
    return JSON.stringify(data)
  } catch {
    return undefined
  }
}

/**
 * The parts of a reply for one reader: at first those that are kept, and then each new one. Without a reply, those of every
 * reply from now on.
 */
export const dataChanges = (
  written: WrittenData,
  reply: Reply | undefined,
  frames: (parts: ReadonlyArray<WrittenPart>) => string,
  changed: () => void
): Changes => {
  const kept: ReadonlyArray<WrittenPart> = reply === undefined ? [] : written.of(reply.name, reply.messages)
  const waiting = new Map(kept.map((part) => [nameOf(part), part]))
  const transient: Array<WrittenPart> = []
  const leave = written.subscribe((name, part) => {
    if (reply !== undefined && name !== reply.name) return
    if (part.transient !== true) waiting.set(nameOf(part), part)
    else if (transient.push(part) > mostTransient) transient.shift()
    changed()
  })
  return {
    look: () => {
      if (waiting.size === 0 && transient.length === 0) return ""
      const parts = [...waiting.values(), ...transient.splice(0)]
      waiting.clear()
      return frames(parts)
    },
    leave
  }
}

interface Reply {
  readonly name: string
  readonly messages: ReadonlyArray<Message.Message>
}

/** The name of the writer in a turn's `context`. */
export const writerKey = "uiWriter"

/** Whether a value is a writer. A copy in a worker is none. */
export const isWriter = (value: unknown): value is Writer =>
  typeof value === "object" && value !== null && "write" in value && typeof value.write === "function"

/** The options of a turn, with the writer of its data. Its functions are no data. */
export const withWriter = (
  { troupe, limits: { messageCharacters: most } }: Pick<Call, "troupe" | "limits">,
  chat: LocalChatRef,
  posted: TurnOptions = {}
): TurnOptions => {
  const written = writtenDataOf(chat)
  const unsaved = new Map<string, Sized>()
  let saved = 0
  const write = (given: UiWritten): void => {
    const { part, characters } = checked(given)
    const context = chat.getSnapshot()?.context
    const isOpen = context?.result === undefined || context.phase === "runningHooks"
    if (!isOpen || context?.turn?.options.context?.[writerKey] !== writer) throw isOver(part)
    if (characters > most) throw refused("data", `has more than ${most} characters; write less, or several parts`)
    const reply = standingOf(context).name
    if (part.transient === true) return written.notify(reply, part)
    const kept = { part: { ...part, id: part.id ?? System.uuid(troupe.system, "server") }, characters }
    const earlier = unsaved.get(nameOf(kept.part))?.characters ?? 0
    if (saved + characters - earlier > most) throw refused("data", full)
    written.keep(reply, kept, most)
    saved += characters - earlier
    unsaved.set(nameOf(kept.part), kept)
  }
  /** The parts that the turn wrote since the last call or reply ended (UIWRITE4). */
  const unsavedParts = (): Readonly<Record<string, unknown>> | undefined => {
    if (unsaved.size === 0) return undefined
    const parts = Array.from(unsaved.values(), ({ part }) => part)
    unsaved.clear()
    return { [storedKey]: parts }
  }
  const writer = Object.defineProperty({}, "write", { value: write, enumerable: false })
  return {
    ...posted,
    context: { ...posted.context, [writerKey]: writer },
    storedMetadata: { ...posted.storedMetadata, ofMessage: unsavedParts }
  }
}

/** The options of a turn whose messages are stored with the data of their reply. */
export const withReplyParts = ({ troupe, readers }: Call, chat: LocalChatRef, options: TurnOptions): TurnOptions => {
  const { storedMetadata } = options
  const replyPart = ({ model, usage }: Response): ReplyPart => {
    const context = chat.getSnapshot()?.context
    const startedAt = context === undefined ? undefined : writtenDataOf(chat).begunAt(standingOf(context).name)
    return {
      ...(startedAt !== undefined && { startedAt }),
      endedAt: Math.round(troupe.system.clock.now()),
      ...(model !== undefined && { model }),
      usage,
      ...(readers.isReading(chat) && { isRead: true })
    }
  }
  const ofMessage = (reply: Response | undefined) => {
    const others = storedMetadata?.ofMessage?.(reply)
    return reply === undefined ? others : { ...others, [partKey]: replyPart(reply) }
  }
  return { ...options, storedMetadata: { ...storedMetadata, ofMessage } }
}

const isOver = ({ type }: WrittenPart): ToolError =>
  new ToolError("cancelled", {
    message: `The turn is over, and its reply gets no ${type}; write before the handler or the hook returns`
  })
