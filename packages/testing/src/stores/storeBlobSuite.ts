/** The laws of the blobs of a store that has them. */
import type { Store } from "@troupe/chat/store"
import { holds, type Law } from "../law/index.ts"
import { type MakeStore, refuses, same, saveAll, storeLaw, save } from "./storeLaw.ts"
import { conversation, inputOf, said } from "./storeSamples.ts"

type Blobs = NonNullable<Store.SessionStore["blobs"]>

const bytesOf = (...bytes: ReadonlyArray<number>): Uint8Array => Uint8Array.from(bytes)

/** Every byte, many times: no database may take them for text. */
const large = Uint8Array.from({ length: 1_000_000 }, (_, at) => (at * 7 + (at >> 8)) % 256)

/** Throws unless the store has these bytes. */
const sameBytes = async (blobs: Blobs, chat: string, id: string, bytes: Uint8Array | undefined): Promise<void> => {
  const seen = await blobs.get(chat, id)
  const isSame =
    bytes === undefined || seen === undefined
      ? seen === bytes
      : seen.length === bytes.length && seen.every((byte, at) => byte === bytes[at])
  holds(
    isSame,
    () => `the blob ${id} of ${chat} has other bytes than ${bytes?.length ?? "none"}: ${seen?.length ?? "none"}`
  )
}

const ttlMs = 1_000

const hourMs = 3_600_000

/** Ids as chats make them. */
const [first = "", second = "", forgotten = "", again = ""] = ["1", "2", "3", "4"].map((digit) => digit.repeat(64))

/** A store without blobs keeps these laws too: it has none. */
export const blobLaws = (make: MakeStore): ReadonlyArray<Law> => {
  const blobLaw = (
    title: string,
    check: (blobs: Blobs, ...given: Parameters<Parameters<typeof storeLaw>[2]>) => Promise<void>,
    time?: number
  ): Law =>
    storeLaw(
      make,
      `blobs: ${title}`,
      async (store, clock) => (store.blobs === undefined ? undefined : check(store.blobs, store, clock)),
      time
    )
  return [
    blobLaw("bytes are returned unchanged, by conversation and id, and never change", async (blobs) => {
      await blobs.put("a", "large", large)
      await blobs.put("a", "empty", bytesOf())
      await blobs.put("a", "one", bytesOf(0, 255, 128))
      await blobs.put("a", "one", bytesOf(9))
      await blobs.put("b", "one", bytesOf(1))
      await sameBytes(blobs, "a", "large", large)
      await sameBytes(blobs, "a", "empty", bytesOf())
      await sameBytes(blobs, "a", "one", bytesOf(0, 255, 128))
      await sameBytes(blobs, "b", "one", bytesOf(1))
      await sameBytes(blobs, "b", "large", undefined)
      await sameBytes(blobs, "unknown", "one", undefined)
      same("the sizes", [await blobs.size("a"), await blobs.size("b"), await blobs.size("unknown")], [1_000_003, 1, 0])
    }),
    blobLaw(
      "a blob alone is no conversation: none is listed or loaded until there is an input or an entry",
      async (blobs, store) => {
        const listed = async (options?: { readonly prefix: string }) =>
          (await store.list(options)).chats.map(({ id, title, seq, waiting }) => [id, title, seq, waiting])
        for (const id of ["a", "b"]) await blobs.put(id, "one", bytesOf(1))
        same("the conversation", await store.load("a"), undefined)
        same("the history", await store.history("a"), [])
        same("the list", [await listed(), await listed({ prefix: "a" })], [[], []])
        await refuses("a rewind", "unknown_chat", () => store.rewind("a", 0))
        await refuses("a fork of it", "unknown_chat", () => store.fork("a", "c"))
        await store.accept("a", inputOf("i1", "Hello"))
        same("the list", await listed(), [["a", "Hello", 0, 1]])
        await save(store, said("a", "one"), { after: 0 })
        await blobs.put("a", "two", bytesOf(2))
        same("the entries", (await store.history("a")).length, 1)
        await sameBytes(blobs, "a", "one", bytesOf(1))
        await sameBytes(blobs, "a", "two", bytesOf(2))
        same("the fork", (await store.fork("a", "b")).version, 1)
        same("the list", (await listed()).length, 2)
      }
    ),
    blobLaw(
      "the size for a prefix is that of all its conversations, sub-agents and blobs alone included, after any change",
      async (blobs, store) => {
        const child = "anna/c1/~/call"
        const put = async (chat: string, ...ids: ReadonlyArray<string>): Promise<void> => {
          for (const id of ids) await blobs.put(chat, id, new Uint8Array(id.length))
        }
        await save(store, said("anna/a", "one", "first"))
        await put("anna/a", "first", "zz")
        await save(store, said(child, "one"))
        await put(child, "zzz")
        await put("anna/alone", "zzzz")
        for (const other of ["ann/a", "anna", "anna0", "Anna/a", "annb/a"]) await put(other, "other")
        same("the size", await blobs.size("anna/"), 5 + 2 + 3 + 4)
        same("the sizes", [await blobs.size("anna/a"), await blobs.size("anna/x"), await blobs.size("")], [11, 0, 39])
        same("the size of no id", await blobs.size("anna/\ud800"), 0)
        await store.fork("anna/a", "anna/fork")
        same("the size with a fork", await blobs.size("anna/"), 14 + 5)
        await store.rewind("anna/a", 0)
        same("the size after a rewind", await blobs.size("anna/"), 19)
        await store.delete(child)
        same("the size after a deletion", await blobs.size("anna/"), 16)
      }
    ),
    blobLaw("a deletion removes them, and a new conversation of the id has none", async (blobs, store) => {
      await save(store, said("a", "one"))
      await blobs.put("a", "one", bytesOf(1))
      await blobs.put("b", "one", bytesOf(1))
      await store.delete("a")
      await sameBytes(blobs, "a", "one", undefined)
      same("the conversation", await store.load("a"), undefined)
      await save(store, said("a", "anew"))
      same("the sizes", [await blobs.size("a"), await blobs.size("b")], [0, 1])
    }),
    blobLaw("a fork has those that its record names, for itself, and a rewind keeps all", async (blobs, store) => {
      await save(store, said("a", "one"))
      await blobs.put("a", first, bytesOf(1))
      await save(store, said("a", "one", first))
      await blobs.put("a", second, bytesOf(2))
      await save(store, said("a", "one", first, second))
      await store.fork("a", "fork", 2)
      await blobs.put("fork", "own", bytesOf(3))
      await store.rewind("a", 1)
      await sameBytes(blobs, "a", first, bytesOf(1))
      await sameBytes(blobs, "a", second, bytesOf(2))
      await sameBytes(blobs, "a", "own", undefined)
      await store.delete("a")
      await sameBytes(blobs, "fork", first, bytesOf(1))
      await sameBytes(blobs, "fork", second, undefined)
      await sameBytes(blobs, "fork", "own", bytesOf(3))
    }),
    blobLaw("a load and a fork look for them in any record", async (blobs, store, clock) => {
      await saveAll(store, conversation("a"))
      await blobs.put("a", forgotten, bytesOf(1))
      await store.fork("a", "b")
      await clock.advance(hourMs + 1)
      await store.load("a")
      same("the sizes", [await blobs.size("a"), await blobs.size("b")], [0, 0])
    }),
    blobLaw("a load removes those that nothing named for an hour, and no others", async (blobs, store, clock) => {
      await save(store, said("a", "one", first))
      await store.accept("a", inputOf("i1", second))
      for (const id of [first, second, forgotten, again]) await blobs.put("a", id, bytesOf(1))
      await clock.advance(hourMs)
      await store.load("a")
      same("the size within an hour", await blobs.size("a"), 4)
      await blobs.put("a", again, bytesOf(1))
      await clock.advance(1)
      await store.load("a")
      await sameBytes(blobs, "a", forgotten, undefined)
      for (const id of [first, second, again]) await sameBytes(blobs, "a", id, bytesOf(1))
      await store.rewind("a", 0)
      await clock.advance(2 * hourMs)
      await store.load("a")
      same("the size after a rewind", await blobs.size("a"), 2)
      await sameBytes(blobs, "a", again, undefined)
    }),
    blobLaw(
      "only bytes under a text are stored, and a later change of the array changes nothing",
      async (blobs, store) => {
        const bytes = bytesOf(1, 2)
        await blobs.put("a", "one", bytes)
        bytes[0] = 9
        await sameBytes(blobs, "a", "one", bytesOf(1, 2))
        const refused = "invalid_options"
        await refuses("no bytes", refused, () => blobs.put("b", "one", "text" as unknown as Uint8Array))
        await refuses("no id", refused, () => blobs.put("b", "", bytesOf(1)))
        await refuses("no text as id", refused, () => blobs.put("b", 1 as unknown as string, bytesOf(1)))
        same("the conversation", await store.load("b"), undefined)
      }
    ),
    blobLaw(
      "they expire with their conversation, also if it has nothing else",
      async (blobs, store, clock) => {
        await save(store, said("old", "one"))
        await blobs.put("old", "one", bytesOf(1))
        await blobs.put("bare", "one", bytesOf(1))
        await clock.advance(hourMs + ttlMs + 1)
        await store.expire()
        same("the sizes", [await blobs.size("old"), await blobs.size("bare")], [0, 0])
      },
      ttlMs
    ),
    blobLaw("a put of an older epoch than the claimed one is refused, and changes nothing", async (blobs, store) => {
      await store.claim("k", 2)
      const put = (epoch: number) => blobs.put("a", `${epoch}`, bytesOf(epoch), { key: "k", epoch })
      await refuses("an older put", "store_fenced", () => put(1))
      same("the conversation", await store.load("a"), undefined)
      await put(2)
      same("the size", await blobs.size("a"), 1)
    }),
    blobLaw("a store that is closed refuses them", async (blobs, store) => {
      await store.close()
      const operations = {
        put: () => blobs.put("a", "one", bytesOf(1)),
        get: () => blobs.get("a", "one"),
        size: () => blobs.size("a")
      }
      for (const [name, ask] of Object.entries(operations)) await refuses(name, "store_closed", ask)
    })
  ]
}
