import { expect, test } from "vitest"
import { Fake, tool } from "../../src/index.ts"
import type { Adapter } from "../../src/adapter/index.ts"
import type { SessionStore } from "../../src/store/index.ts"
import { memory, type SavingStore } from "../double/savingStore.ts"
import { portableSha256, sha256 } from "../../src/json/sha256.ts"
import { collected } from "../double/collected.ts"
import { hop } from "../double/hop.ts"
import { completed, drawing, imageOf } from "../double/images.ts"
import { leakCheck } from "../double/leakCheck.ts"

const check = leakCheck()

const photo = imageOf(100_000)
const says = (text: string) => [{ text }, { finish: "stop" as const }]
const see = { type: "text", text: "What is this?" } as const

/** The JSON of everything that the log of a conversation has. */
const written = async (store: SessionStore, id: string): Promise<string> =>
  JSON.stringify([await store.history(id), await store.load(id)])

const put = async (store: SessionStore, id: string) => {
  const bytes = await store.blobs?.get(id, photo.reference.image.blob)
  return bytes === undefined ? undefined : Array.from(bytes)
}

test("SHA1 the digest of this file is that of the native module, for every length around a block", () => {
  const { bytes } = imageOf(300)
  for (let length = 0; length <= bytes.length; length++) {
    expect(portableSha256(bytes.subarray(0, length))).toBe(sha256(bytes.subarray(0, length)))
  }
  expect(portableSha256(new TextEncoder().encode("abc"))).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
  )
})

test("CHATBLOB1, CHATBLOB2 the message of a photo has a reference, each request has its bytes, and later turns write none of them", async () => {
  const store = memory()
  const scripts = Array.from({ length: 5 }, (_, at) => says(`Answer ${at}`))
  const adapter = Fake.make({ scripts })
  const { troupe } = await check.troupe({ adapter, store })
  const chat = await troupe.chat("c")
  await chat.send([see, photo.part]).result()
  expect(chat.thread.messages[0]?.content).toEqual([see, photo.reference])
  expect(await put(store, "c")).toEqual(Array.from(photo.bytes))
  for (let turn = 1; turn < 5; turn++) await chat.send(`Turn ${turn}`).result()
  for (const { messages } of adapter.requests) expect(messages[0]?.content).toEqual([see, photo.part])
  expect((await written(store, "c")).length).toBeLessThan(10_000)
  expect(await store.blobs?.size("c")).toBe(photo.bytes.length)
  expect(await troupe.blob("c", photo.reference.image.blob)).toEqual(photo.bytes)
  expect(await troupe.blob("d", photo.reference.image.blob)).toBeUndefined()
})

test("CHATBLOB2 a chat that is loaded again sends the bytes; bytes that are gone are a short text", async () => {
  const store = memory()
  const first = await check.troupe({ adapter: Fake.make({ script: says("A cat.") }), store })
  await (await first.troupe.chat("c")).send([see, photo.part]).result()
  await first.troupe.stop()
  const adapter = Fake.make({ script: says("Yes.") })
  const second = await check.troupe({ adapter, store })
  await (await second.troupe.chat("c")).send("Sure?").result()
  expect(adapter.requests[0]?.messages[0]?.content).toEqual([see, photo.part])
  await second.troupe.stop()
  const without: SessionStore = { ...store, blobs: store.blobs && { ...store.blobs, get: () => undefined } }
  const later = Fake.make({ script: says("Yes.") })
  const third = await check.troupe({ adapter: later, store: without })
  await (await third.troupe.chat("c")).send("Sure?").result()
  expect(later.requests[0]?.messages[0]?.content).toEqual([
    see,
    { type: "text", text: "[image image/png, 100 kB: it is not stored any more]" }
  ])
})

test("CHATBLOB1 images of a tool, of a reply, of submitted results and of a begun thread are references too", async () => {
  const store = memory()
  const [shot, drawn, given, old] = [imageOf(50_000, 3), imageOf(60_000, 5), imageOf(70_000, 7), imageOf(80_000, 11)]
  const reply = drawing(drawn.part)
  const scripts = [
    [
      { toolCall: { id: "c1", name: "look", arguments: {} } },
      { toolCall: { id: "c2", name: "ask", arguments: {} } },
      { finish: "tool_calls" as const }
    ],
    [],
    says("Fine.")
  ]
  const usual = Fake.make({ scripts })
  const adapter: Adapter = {
    ...usual,
    stream: async function (request, options) {
      const stream = await usual.stream(request, options)
      return usual.requests.length === 2 ? completed(reply) : stream
    }
  }
  const look = tool({ name: "look", execute: () => [shot.part] })
  const ask = tool({ name: "ask", manual: true })
  const { troupe } = await check.troupe({ adapter, store, tools: [look, ask] })
  const chat = await troupe.begin(
    [
      { role: "user", content: [see, old.part] },
      { role: "assistant", content: "Old." }
    ],
    {
      id: "c"
    }
  )
  await chat.send("Look").result()
  await chat.submitToolResults({ c2: [given.part] }).result()
  await chat.send("And?").result()
  const found = JSON.stringify(chat.thread.messages)
  for (const { reference } of [shot, drawn, given, old]) expect(found).toContain(JSON.stringify(reference.image))
  expect(found).not.toContain("base64")
  expect(await written(store, "c")).not.toContain("base64")
  const sent = JSON.stringify(usual.requests.at(-1)?.messages)
  for (const { part } of [shot, drawn, given, old]) expect(sent).toContain(part.image.base64)
  expect(await store.blobs?.size("c")).toBe(50_000 + 60_000 + 70_000 + 80_000)
})

test("BLOBREF1 a small image stays in its message, and so does every image where the store keeps no blobs", async () => {
  const small = imageOf(1_000)
  const store = memory()
  const { troupe } = await check.troupe({ adapter: Fake.make({ script: says("Small.") }), store })
  const chat = await troupe.chat("c")
  await chat.send([see, small.part]).result()
  expect(chat.thread.messages[0]?.content).toEqual([see, small.part])
  expect(await store.blobs?.size("c")).toBe(0)
  const without: SessionStore = { ...memory(), blobs: undefined }
  const other = await check.troupe({
    adapter: Fake.make({ script: says("Large.") }),
    store: without
  })
  const inline = await other.troupe.chat("c")
  await inline.send([see, photo.part]).result()
  expect(inline.thread.messages[0]?.content).toEqual([see, photo.part])
})

test("CHATBLOB3 a reference of the conversation may be sent again, and any other is refused", async () => {
  const store = memory()
  const adapter = Fake.make({ scripts: [says("A cat."), says("The same.")] })
  const { troupe } = await check.troupe({ adapter, store })
  const chat = await troupe.chat("c")
  await chat.send([see, photo.part]).result()
  await chat.send([see, photo.reference]).result()
  expect(adapter.requests[1]?.messages[2]?.content).toEqual([see, photo.part])
  const refusal = { reason: "invalid_message", message: expect.stringContaining("must_refer_to_a_blob") }
  expect(() => chat.send([imageOf(90_000, 13).reference])).toThrow(expect.objectContaining(refusal))
  const forged = { type: "image", image: { ...photo.reference.image, bytes: 1 } } as const
  expect(() => chat.send([forged])).toThrow(expect.objectContaining(refusal))
})

test("CHATBLOB1 when the bytes cannot be stored, the input is not accepted; it can be sent again", async () => {
  const store = memory()
  let fails = true
  const refusing: SessionStore = {
    ...store,
    blobs: store.blobs && {
      ...store.blobs,
      put: (...given) => {
        if (fails) throw new Error("the disk is full")
        return store.blobs?.put(...given)
      }
    }
  }
  const { troupe } = await check.troupe({ adapter: Fake.make({ script: says("A cat.") }), store: refusing })
  const chat = await troupe.chat("c")
  const { haltedReason } = await chat.send([see, photo.part]).result()
  expect(haltedReason).toBe("error")
  expect(await store.load("c")).toBeUndefined()
  fails = false
  await chat.retry().result()
  expect(chat.thread.messages[0]?.content).toEqual([see, photo.reference])
  expect(await put(store, "c")).toEqual(Array.from(photo.bytes))
})

test("CHATBLOB5 a message is refused that gives the conversation more bytes than the bound; the same bytes count once, and results are never refused", async () => {
  const look = tool({ name: "look", execute: () => [imageOf(90_000, 17).part] })
  const scripts = [
    says("A cat."),
    says("The same."),
    [{ toolCall: { id: "c1", name: "look", arguments: {} } }, { finish: "tool_calls" as const }],
    says("Seen.")
  ]
  const store = memory()
  const { troupe } = await check.troupe({
    adapter: Fake.make({ scripts }),
    store,
    tools: [look],
    maxChatFileBytes: 150_000
  })
  const chat = await troupe.chat("c")
  await chat.send([see, photo.part]).result()
  const refusal = {
    reason: "invalid_message",
    message: expect.stringContaining("at most 150000 bytes in its images and files")
  }
  expect(() => chat.send([imageOf(60_000, 19).part])).toThrow(expect.objectContaining(refusal))
  await chat.send([see, photo.part]).result()
  await chat.send("Look").result()
  expect(await store.blobs?.size("c")).toBe(190_000)
})

test("BLOB2 when a program ends between the bytes of a photo and its message, no conversation is listed, and the message can be sent again", async () => {
  const store = memory()
  const ended = Promise.withResolvers<never>()
  const dying: SavingStore = { ...store, accept: () => ended.promise, save: () => ended.promise }
  const first = await check.troupe({ adapter: Fake.make({ script: says("A cat.") }), store: dying })
  const sent = (await first.troupe.chat("c")).send([see, photo.part], { id: "m1" }).result()
  sent.catch(() => {})
  while ((await store.blobs?.size("c")) === 0) await hop()
  const adapter = Fake.make({ script: says("A cat.") })
  const second = await check.troupe({ adapter, store })
  expect(await second.troupe.list()).toEqual({ chats: [] })
  expect(await second.troupe.has("c")).toBe(false)
  await (await second.troupe.chat("c")).send([see, photo.part], { id: "m1" }).result()
  expect(adapter.requests[0]?.messages[0]?.content).toEqual([see, photo.part])
  expect((await second.troupe.list()).chats.map(({ id, title, messages }) => [id, title, messages])).toEqual([
    ["c", "What is this?", 2]
  ])
  ended.reject(new Error("the program ended"))
})

test("CHATBLOB4 once the store has the bytes of a photo, of a tool's image and of a drawn one, the chat holds none of them", async () => {
  const store = memory()
  const bytes: Array<WeakRef<object>> = []
  const noting: SessionStore = {
    ...store,
    blobs: store.blobs && {
      ...store.blobs,
      put: (...given) => {
        bytes.push(new WeakRef(given[2]))
        return store.blobs?.put(...given)
      }
    }
  }
  const scripts = [
    [{ toolCall: { id: "c1", name: "look", arguments: {} } }, { finish: "tool_calls" as const }],
    says("Drawn."),
    says("The same.")
  ]
  const sent: Array<WeakRef<object>> = []
  let requests = 0
  const adapter: Adapter = {
    name: "forgetful",
    stream: (request, options) => {
      for (const { content } of request.messages) {
        if (typeof content === "string") continue
        for (const part of content) if (part.type === "image") sent.push(new WeakRef(part))
      }
      const script = scripts[requests++] ?? []
      return requests === 2
        ? completed(drawing(imageOf(60_000, 5).part))
        : Fake.make({ script }).stream(request, options)
    }
  }
  const look = tool({ name: "look", execute: () => [imageOf(50_000, 3).part] })
  const { troupe } = await check.troupe({ adapter, store: noting, tools: [look] })
  const chat = await troupe.chat("c")
  await chat.send([see, imageOf(100_000).part]).result()
  await chat.send("And?").result()
  expect([bytes.length, sent.length]).toEqual([3, 5])
  expect(await collected([...bytes, ...sent])).toEqual([...bytes, ...sent].map(() => true))
  expect(chat.thread.messages.length).toBe(6)
})
