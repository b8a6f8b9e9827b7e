/**
 * The blobs of one chat: the bytes of its images and files, which its messages refer to.
 *
 * Owns: the bytes that the store does not have yet, and the ids of the blobs that the chat refers to. Does not own the messages.
 * Calls the store.
 *
 * CHATBLOB1. The store has the bytes of a reference before it has a message with the reference. Until then the chat has them for
 *            readers. A failed `put` fails that write, and the next write of the chat tries again.
 * CHATBLOB2. A request has the bytes in place of each reference. A part whose bytes are gone is a short text there: the conversation
 *            goes on.
 * CHATBLOB3. A sender may repeat a reference of the conversation. Any other reference is refused.
 * CHATBLOB4. Once the store has bytes, the chat does not hold them. The text of a request is reused as long as the garbage collector
 *            leaves it.
 * CHATBLOB5. A message of a user is refused when the blobs of its chat would have more bytes together than `maxChatFileBytes`. The
 *            same bytes count once. Results of tools and replies are never refused for this.
 */
import { ValidationError } from "../errors/index.ts"
import { type AssistantPart, type ContentPart, type FilePart, type ImagePart, type Message } from "./messageShapes.ts"
import { blobOf } from "./mediaSource.ts"
import { inlined, isNew, referencesIn, referencesOf, referring, takeBytes, withParts } from "./references.ts"

/** The map of a chat without blobs, which holds none of its own. */
const none = new Map<string, never>()

export abstract class ChatBlobs {
  readonly #mostBytes: number
  /** The bytes of the blobs that the store does not have yet. */
  #unstored: Map<string, Uint8Array> = none
  /** The bytes of the blobs that the chat refers to, by id. */
  #sizes: Map<string, number> = none
  /** The base64 forms of references that requests have used. */
  #inlined: Map<string, WeakRef<ImagePart | FilePart>> = none

  /** `mostBytes` is how many bytes the blobs of the chat may have together. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Whether the chat refers to any blob. */
  get areUsed(): boolean {
    return this.#sizes.size > 0
  }

  /** Whether the store does not have the bytes of some reference yet. */
  get hasUnstored(): boolean {
    return this.#unstored.size > 0
  }

  /** Puts a blob into the store. */
  protected abstract put(blob: string, bytes: Uint8Array): Promise<unknown>

  /** The bytes of a blob of the store. */
  protected abstract get(blob: string): Promise<Uint8Array | undefined>

  /** The chat goes on from this record. */
  loaded(
    record:
      | {
          readonly thread: { readonly messages: ReadonlyArray<Message> }
          readonly inbox?: ReadonlyArray<{ readonly message: Message }> | undefined
        }
      | undefined
  ): void {
    const unstored = Array.from(this.#unstored, ([blob, bytes]) => [blob, bytes.byteLength] as const)
    this.#sizes = unstored.length === 0 ? none : new Map(unstored)
    if (record === undefined) return
    for (const message of record.thread.messages) this.#note(message)
    for (const { message } of record.inbox ?? []) this.#note(message)
  }

  #note(message: Message): void {
    if (typeof message.content === "string" && (message.role !== "assistant" || message.parts === undefined)) return
    this.#hold(referencesOf(message))
  }

  /** The content of a user, with references; the chat does not hold their bytes yet. Throws for an unknown reference (CHATBLOB3). */
  referring<C extends string | ReadonlyArray<ContentPart>>(content: C): C {
    if (typeof content === "string") return content
    const parts = referring(content)
    const unknown = referencesIn(parts).find((part) => {
      const { blob = "", bytes } = blobOf(part) ?? {}
      return !isNew(part) && this.#sizes.get(blob) !== bytes
    })
    if (unknown === undefined) {
      this.#checkBound(parts)
      return parts as C
    }
    const reason = "must_refer_to_a_blob of this conversation; send the base64 text of the bytes"
    throw new ValidationError("invalid_message", [{ field: ["content", parts.indexOf(unknown)], reason }])
  }

  /** CHATBLOB5 */
  #checkBound(parts: ReadonlyArray<ContentPart>): void {
    const sizes = new Map(this.#sizes)
    const before = sizes.size
    for (const part of referencesIn(parts)) sizes.set(blobOf(part)?.blob ?? "", blobOf(part)?.bytes ?? 0)
    if (sizes.size === before) return
    const bytes = Array.from(sizes.values()).reduce((sum, size) => sum + size, 0)
    if (bytes <= this.#mostBytes) return
    const most = `must_fit_into_the_conversation of at most ${this.#mostBytes} bytes in its images and files`
    const reason = `${most}: with this message it has ${bytes}; give https: URLs, begin another one, or raise maxChatFileBytes`
    throw new ValidationError("invalid_message", [{ field: ["content"], reason }])
  }

  /** The parts with references, whose bytes the chat holds for the next write. */
  kept<P extends ContentPart | AssistantPart>(parts: ReadonlyArray<P>): ReadonlyArray<P> {
    const kept = referring(parts)
    if (kept !== parts) this.#hold(referencesIn(kept))
    return kept
  }

  /** The message with references, whose bytes the chat holds for the next write. */
  keptMessage(message: Message): Message {
    const content = typeof message.content === "string" ? message.content : this.kept(message.content)
    if (message.role === "system") return message
    const parts = message.role === "assistant" ? message.parts : undefined
    return { ...message, content, ...(parts !== undefined && { parts: this.kept(parts) }) }
  }

  /** Holds the bytes of the references of content for the next write. */
  hold(content: string | ReadonlyArray<ContentPart>): void {
    if (typeof content !== "string") this.#hold(referencesIn(content))
  }

  #hold(references: ReadonlyArray<ImagePart | FilePart>): void {
    for (const part of references) {
      const { blob, bytes } = blobOf(part) ?? { blob: "", bytes: 0 }
      if (this.#sizes === none) this.#sizes = new Map()
      this.#sizes.set(blob, bytes)
      const added = takeBytes(part)
      if (added !== undefined) {
        if (this.#unstored === none) this.#unstored = new Map()
        this.#unstored.set(blob, added)
      }
    }
  }

  /** Resolves when the store has the bytes of all references (CHATBLOB1). */
  async stored(): Promise<void> {
    for (const [blob, bytes] of this.#unstored) {
      await this.put(blob, bytes)
      if (this.#unstored.get(blob) === bytes) this.#unstored.delete(blob)
    }
  }

  /** The bytes of a blob; `undefined` for an unknown id. */
  async read(blob: string): Promise<Uint8Array | undefined> {
    return this.#unstored.get(blob) ?? (await this.get(blob))
  }

  /** The request with the bytes in place of references (CHATBLOB2). */
  async brought<R extends { readonly messages: ReadonlyArray<Message> }>(request: R): Promise<R> {
    const found = new Map<string, ImagePart | FilePart | undefined>()
    for (const part of request.messages.flatMap(referencesOf)) {
      const name = nameOf(part)
      if (!found.has(name)) found.set(name, await this.#read(part, name))
    }
    if (found.size === 0) return request
    const replacement = (part: ImagePart | FilePart) => {
      const { image, file } = (found.get(nameOf(part)) ?? {}) as { readonly image?: unknown; readonly file?: unknown }
      if (image === undefined && file === undefined) return undefined
      return (part.type === "image" ? { ...part, image } : { ...part, file }) as ImagePart | FilePart
    }
    return { ...request, messages: request.messages.map((message) => withParts(message, replacement)) }
  }

  /** CHATBLOB4 */
  async #read(part: ImagePart | FilePart, name: string): Promise<ImagePart | FilePart | undefined> {
    const known = this.#inlined.get(name)?.deref()
    if (known !== undefined) return known
    const bytes = await this.read(blobOf(part)?.blob ?? "")
    if (bytes === undefined) return undefined
    const made = inlined(part, bytes)
    if (this.#inlined === none) this.#inlined = new Map()
    this.#inlined.set(name, new WeakRef(made))
    return made
  }
}

/** The name of the base64 form of a reference: an image has its media type. */
const nameOf = (part: ImagePart | FilePart): string =>
  part.type === "image"
    ? `${blobOf(part)?.blob} ${"mediaType" in part.image && part.image.mediaType}`
    : `${blobOf(part)?.blob}`
