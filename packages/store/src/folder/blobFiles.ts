/**
 * The files of blobs: a folder for each conversation, and a file for each of its blobs.
 *
 * Owns: the files in its folder. Does not own the conversations, nor when a blob is due.
 *
 * BLOBFILE1. A file with the name of a blob has all of its bytes: they are written under another name, forced to the disk, and the file
 *            is renamed.
 * BLOBFILE2. No id reaches outside of the folder: a name is a digest, or the hexadecimal form of the id.
 */
import { createHash, randomUUID } from "node:crypto"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { link, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { type Finding, ValidationError } from "@troupe/chat/errors"

/** A blob that waits for its message, since a time. */
interface Waiting {
  readonly blob: string
  readonly since: number
}

/** A conversation that may be over, since a time if it has one. */
interface Doubtful {
  readonly chat: string
  readonly since?: number | undefined
}

export class BlobFiles {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** Stores the bytes of a blob that waits for its message since `now`. The bytes of a known blob stay. */
  async put(chat: string, blob: string, bytes: Uint8Array, now: number): Promise<void> {
    const folder = this.#folder(chat)
    const file = join(folder, nameOf(blob))
    if ((await mkdir(folder, { recursive: true })) !== undefined) this.doubt(chat, now)
    await writeFile(file + waits, String(now))
    if (existsSync(file)) return
    await written(file, bytes)
  }

  async get(chat: string, blob: string): Promise<Uint8Array | undefined> {
    const bytes = await ifThere(readFile(join(this.#folder(chat), nameOf(blob))))
    return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  async size(chat: string): Promise<number> {
    const folder = this.#folder(chat)
    const blobs = (await names(folder)).filter((name) => blobIn(name) !== undefined)
    const sizes = await Promise.all(blobs.map(async (name) => (await ifThere(stat(join(folder, name))))?.size ?? 0))
    return sizes.reduce((sum, size) => sum + size, 0)
  }

  /** The blobs of a conversation that wait for their message. */
  async waiting(chat: string): Promise<ReadonlyArray<Waiting>> {
    const folder = this.#folder(chat)
    const found: Array<Waiting> = []
    for (const name of await names(folder)) {
      const blob = name.endsWith(waits) ? blobIn(name.slice(0, -waits.length)) : undefined
      const since = blob && (await ifThere(readFile(join(folder, name), "utf8")))
      if (blob !== undefined && since !== undefined) found.push({ blob, since: Number(since) })
    }
    return found
  }

  /** The blob waits for its message no longer. */
  async named(chat: string, blob: string): Promise<void> {
    await rm(join(this.#folder(chat), nameOf(blob) + waits), { force: true })
  }

  async remove(chat: string, blob: string): Promise<void> {
    await rm(join(this.#folder(chat), nameOf(blob)), { force: true })
    await this.named(chat, blob)
  }

  /** Gives the blobs that a text names to another conversation, which begins with it. */
  async copy(from: string, to: string, text: string, now: number): Promise<void> {
    const folder = this.#folder(from)
    const blobs = (await names(folder)).flatMap((name) => blobIn(name) ?? [])
    for (const blob of blobs.filter((id) => text.includes(id))) {
      if ((await mkdir(this.#folder(to), { recursive: true })) !== undefined) this.doubt(to, now)
      await linked(join(folder, nameOf(blob)), join(this.#folder(to), nameOf(blob)))
    }
  }

  /** Removes the files of a conversation that is over. */
  async removeAll(chat: string): Promise<void> {
    await rm(this.#folder(chat), { recursive: true, force: true })
    this.sure(chat)
  }

  /** Notes that a conversation with files may be over: after `since`, or by default now. It is noted when this returns. */
  doubt(chat: string, since?: number): void {
    const folder = this.#folder(chat)
    if (existsSync(folder)) writeFileSync(folder + doubts, JSON.stringify({ chat, since }))
  }

  /** The conversation is over, and its files are removed, or it is not. */
  sure(chat: string): void {
    rmSync(this.#folder(chat) + doubts, { force: true })
  }

  /** The conversations that may be over. */
  async doubtful(): Promise<ReadonlyArray<Doubtful>> {
    const found: Array<Doubtful> = []
    for (const name of await names(this.#path)) {
      const text = name.endsWith(doubts) ? await ifThere(readFile(join(this.#path, name), "utf8")) : undefined
      // A file without a text was being written when its program ended.
      if (text !== undefined && text !== "") found.push(JSON.parse(text) as Doubtful)
    }
    return found
  }

  /** BLOBFILE2 */
  #folder(chat: string): string {
    return join(this.#path, createHash("sha256").update(JSON.stringify(chat)).digest("hex"))
  }
}

/** The end of the name of a file that says that something may be over, or waits. */
const doubts = ".check"
const waits = ".waits"

/** The bytes that the id of a blob may have: the hexadecimal form is a file's name. */
const mostIdBytes = 100

/** Throws a `ValidationError` (`invalid_options`) for a blob that cannot be stored. */
export const checkBlob = (id: unknown, bytes: unknown): void => {
  const found: Array<Finding> = []
  if (typeof id !== "string" || id === "" || !id.isWellFormed() || Buffer.byteLength(id) > mostIdBytes) {
    found.push({ field: ["blob"], reason: `must_be_a_text of 1 to ${mostIdBytes} bytes: the digest of the bytes` })
  }
  if (!(bytes instanceof Uint8Array)) found.push({ field: ["bytes"], reason: "must_be_a_Uint8Array" })
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

const digest = /^[0-9a-f]{64}$/u

/** The name of the file of a blob: its id if that is a digest, as chats have it (BLOBFILE2). */
const nameOf = (blob: string): string => (digest.test(blob) ? blob : `x${Buffer.from(blob).toString("hex")}`)

/** The blob whose bytes a file of this name has. */
const blobIn = (name: string): string | undefined => {
  if (digest.test(name)) return name
  return /^x[0-9a-f]+$/u.test(name) ? Buffer.from(name.slice(1), "hex").toString() : undefined
}

/** BLOBFILE1 */
const written = async (file: string, bytes: Uint8Array): Promise<void> => {
  const part = `${file}.${randomUUID()}.part`
  try {
    // `flush` forces the bytes to disk before the file has its name.
    await writeFile(part, bytes, { flag: "wx", flush: true })
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
  await rename(part, file)
}

const names = async (folder: string): Promise<ReadonlyArray<string>> => (await ifThere(readdir(folder))) ?? []

const codeOf = (error: unknown): unknown => (error instanceof Error ? Reflect.get(error, "code") : undefined)

/** A read, or `undefined` if there is no such file. */
const ifThere = async <A>(read: Promise<A>): Promise<A | undefined> => {
  try {
    return await read
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  }
}

/** One file under two names, or a copy where the disk has no links. */
const linked = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to)
  } catch (error) {
    if (codeOf(error) !== "EEXIST") await written(to, await readFile(from))
  }
}
