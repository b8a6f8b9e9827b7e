/** The id of an input, in a database that two programs use one after the other. */
import { copyFileSync } from "node:fs"
import { Fake, Troupe } from "@troupe/chat"
import { expect, test } from "vitest"
import { sqlite } from "../src/index.ts"
import { Folder } from "./double/folder.ts"

/** The same images as in the folder `fixtures/named`, by how they are sent. */
const base64 = (seed: number): string =>
  Buffer.from(Uint8Array.from({ length: 15_000 }, (_, at) => (at * seed) % 251)).toString("base64")
const photos = {
  base64: (seed: number) => ({ type: "image", image: { base64: base64(seed), mediaType: "image/png" } }) as const,
  url: (seed: number) => ({ type: "image", image: { url: `data:image/png;base64,${base64(seed)}` } }) as const
}
const see = { type: "text", text: "What is this?" } as const

test("ARR5 with SQLite the same id with another text is refused by the next program too", async () => {
  using folder = new Folder()
  const path = folder.file()
  const adapter = Fake.make({ script: [{ text: "fine" }, { finish: "stop" }] })
  const start = async () => {
    const store = sqlite(path)
    const troupe = await Troupe.start({ adapter, store })
    return { chat: await troupe.chat("c"), over: () => troupe.stop().then(() => store.close()) }
  }
  const first = await start()
  await first.chat.send("pay 5", { id: "x" }).result()
  await first.over()
  const { chat, over } = await start()
  expect(() => chat.send("pay 900", { id: "x" })).toThrow("names_another_input")
  await expect(chat.send("pay 5", { id: "x" }).result()).rejects.toMatchObject({ reason: "already_delivered" })
  await over()
})

test("ARR5 with SQLite an image of a version without blobs is the same input when it is sent again, and another is refused", async () => {
  using folder = new Folder()
  const path = folder.file()
  copyFileSync(new URL("fixtures/named/chats.db", import.meta.url).pathname, path)
  const adapter = Fake.make({ respond: () => [{ text: "A cat." }, { finish: "stop" }] })
  const store = sqlite(path)
  const troupe = await Troupe.start({ adapter, store })
  for (const [id, photo] of Object.entries(photos)) {
    const chat = await troupe.chat(id)
    const again = chat.send([see, photo(1)], { id: "photo" })
    await expect(again.result()).rejects.toMatchObject({ reason: "already_delivered" })
    expect(() => chat.send([see, photo(2)], { id: "photo" })).toThrow("names_another_input")
  }
  const waiting = await troupe.chat("waiting")
  expect(() => waiting.send([see, photos.base64(2)], { id: "photo" })).toThrow("names_another_input")
  expect((await waiting.send([see, photos.base64(1)], { id: "photo" }).result()).haltedReason).toBe("completed")
  expect(adapter.requests.map(({ messages }) => messages.length)).toEqual([1])
  await troupe.stop()
  await store.close()
})
