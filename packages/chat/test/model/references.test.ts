import { expect, test } from "vitest"
import { error, Fake, halt, tool } from "../../src/index.ts"
import type { Adapter } from "../../src/adapter/index.ts"
import type { SessionStore } from "../../src/store/index.ts"
import { memory } from "../../src/store/Store.ts"
import { completed, drawing, imageOf } from "../double/images.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"
import { delegates } from "../double/subagents.ts"

const check = leakCheck()

test("BLOBREF2 the events and the result of a turn have references in place of the images of tools, of halts, of failures and of replies", async () => {
  const [shot, failing, halting, drawn] = [
    imageOf(50_000, 3),
    imageOf(60_000, 5),
    imageOf(70_000, 7),
    imageOf(80_000, 11)
  ]
  const usual = Fake.make({ scripts: [calls("look", "fail"), [], calls("stop")] })
  const adapter: Adapter = {
    ...usual,
    stream: async function (request, options) {
      const stream = await usual.stream(request, options)
      return usual.requests.length === 2 ? completed(drawing(drawn.part)) : stream
    }
  }
  const tools = [
    tool({ name: "look", execute: () => [{ type: "json", value: 1 }, shot.part] }),
    tool({ name: "fail", execute: () => error([{ type: "text", text: "No." }, failing.part]) }),
    tool({ name: "stop", execute: () => halt("enough", [halting.part]) })
  ]
  const store = memory()
  const { troupe } = await check.troupe({ adapter, store, tools, onToolError: "continue" })
  const chat = await troupe.chat("c")
  const seen: Array<unknown> = []
  for (const text of ["Look", "Stop"]) {
    const turn = chat.send(text)
    for await (const event of turn) seen.push(event)
    seen.push(await turn.result())
  }
  seen.push(chat.getSnapshot(), await store.load("c"), await store.history("c"))
  const text = JSON.stringify(seen)
  for (const { reference } of [shot, failing, halting, drawn]) expect(text).toContain(reference.image.blob)
  expect(text).not.toContain("base64")
  expect(seen).toContainEqual(
    expect.objectContaining({
      name: "look",
      result: { type: "ok", value: [{ type: "json", value: 1 }, shot.reference] }
    })
  )
  expect(seen).toContainEqual(
    expect.objectContaining({
      name: "fail",
      result: { type: "error", reason: [{ type: "text", text: "No." }, failing.reference] }
    })
  )
  expect(await troupe.blob("c", drawn.reference.image.blob)).toEqual(drawn.bytes)
})

test("MEDIA3 by default a photo of 8 MB, a tool's screenshot of 5 MB, an image of 15 MB in a reply and a text of 1 MB pass", async () => {
  const [photo, shot, drawn] = [imageOf(8_000_000), imageOf(5_000_000, 3), imageOf(15_000_000, 5)]
  const usual = Fake.make({ scripts: [calls("look"), []] })
  const adapter: Adapter = {
    ...usual,
    stream: async function (request, options) {
      const stream = await usual.stream(request, options)
      return usual.requests.length === 2 ? completed(drawing(drawn.part)) : stream
    }
  }
  const store = memory()
  const { troupe } = await check.troupe({ adapter, store, tools: [tool({ name: "look", execute: () => [shot.part] })] })
  const chat = await troupe.chat("c")
  const { haltedReason } = await chat.send([{ type: "text", text: "x".repeat(1_000_000) }, photo.part]).result()
  expect(haltedReason).toBe("completed")
  expect(await store.blobs?.size("c")).toBe(28_000_000)
  expect(JSON.stringify([await chat.view(), chat.thread]).length).toBeLessThan(2_100_000)
})

test("CHATBLOB1 the bytes of an event can be read before the store has them, by programs and by handlers", async () => {
  const shot = imageOf(50_000, 3)
  const { blob } = shot.reference.image
  const store = memory()
  const stored = Promise.withResolvers<void>()
  const slow: SessionStore = {
    ...store,
    blobs: store.blobs && {
      ...store.blobs,
      put: async (...given) => stored.promise.then(() => store.blobs?.put(...given))
    }
  }
  const read: Array<unknown> = []
  const tools = [
    tool({ name: "look", execute: () => [shot.part] }),
    tool({ name: "read", execute: async (_, { chat }) => void read.push(await chat?.blob?.(blob)) })
  ]
  const adapter = Fake.make({ scripts: [calls("look"), calls("read"), says("Seen.")] })
  const { troupe } = await check.troupe({ adapter, store: slow, tools })
  const chat = await troupe.chat("c")
  for await (const event of chat.send("Look")) {
    if (event.type !== "tool_result_encoded" || event.parts === undefined) continue
    expect([await troupe.blob("c", blob), await store.blobs?.get("c", blob)]).toEqual([shot.bytes, undefined])
    stored.resolve()
  }
  expect(read).toEqual([shot.bytes])
  expect(await troupe.blob("c", blob)).toEqual(shot.bytes)
})

test("BLOBREF2 the events of a sub-agent have references to the blobs of its chat", async () => {
  const shot = imageOf(50_000, 3)
  const look = tool({ name: "look", execute: () => [shot.part] })
  const research = {
    adapter: check.fake({ scripts: [calls("look"), says("Seen.")] }),
    tools: [look]
  }
  const { troupe } = await delegates(check, () => says(""), { tool: { events: true }, agents: { research } })
  const chat = await troupe.chat("c")
  const chats = new Set<string>()
  const events: Array<unknown> = []
  for await (const event of chat.send("please !dig")) {
    events.push(event)
    if (event.type === "child_event") chats.add(event.chat)
  }
  const text = JSON.stringify(events)
  expect(text).toContain(JSON.stringify(shot.reference.image))
  expect(text).not.toContain("base64")
  expect(chats.size).toBe(1)
  for (const id of chats) expect(await troupe.blob(id, shot.reference.image.blob)).toEqual(shot.bytes)
})
