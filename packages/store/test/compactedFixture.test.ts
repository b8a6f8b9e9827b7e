/** A database with compactions and memories, which an earlier version wrote. */
import { copyFileSync } from "node:fs"
import { Fake, Troupe } from "@troupe/chat"
import { Compaction } from "@troupe/chat/compaction"
import { Memory } from "@troupe/chat/memory"
import { expect, test } from "vitest"
import { sqlite } from "../src/index.ts"
import { Folder } from "./double/folder.ts"

const summary = "Goal: a løng talk."

/** A copy of the fixture, and a Troupe over it whose model says "Well." */
const started = async (folder: Folder) => {
  const path = folder.file()
  copyFileSync(new URL("fixtures/compacted/chats.db", import.meta.url).pathname, path)
  const store = sqlite(path)
  const adapter = Fake.make({ respond: () => [{ text: "Well." }, { finish: "stop" }] })
  const troupe = await Troupe.start({
    adapter,
    store,
    tools: [Memory.remember(), Memory.recall(), Memory.forget()],
    compaction: Compaction.make({ maxTokens: 1_500, strategies: [Compaction.summarise()] }),
    memory: { recall: 3 }
  })
  const over = async () => {
    await troupe.stop()
    await store.close()
  }
  return { adapter, store, troupe, over }
}

test("FIXTURE8. a stored compaction makes the next request as small as it was, and a rewind to before it undoes it", async () => {
  using folder = new Folder()
  const { adapter, store, troupe, over } = await started(folder)
  const id = "anna/compacted"
  const history = await store.history(id, { limit: 1_000 })
  const compacted = history.filter(({ entries = [] }) => entries.some(({ type }) => type === "Compacted"))
  expect(compacted.length).toBeGreaterThan(1)
  const record = await store.load(id)
  expect(record?.thread.messages).toHaveLength(12)
  expect(record?.thread.compaction).toMatchObject({ summary, kept: [], tokens: { before: expect.any(Number) } })
  await (await troupe.chat(id)).send("And now?").result()
  const [request] = adapter.requests
  expect(request?.messages.length).toBeLessThan(12)
  expect(request?.messages[0]?.content).toContain(summary)
  await troupe.rewind(id, (compacted[0]?.seq ?? 0) - 1)
  expect((await store.load(id))?.thread.compaction).toBeUndefined()
  await over()
})

test("FIXTURE9. stored memories are listed, recalled, left out when they were forgotten, and can be forgotten", async () => {
  using folder = new Folder()
  const { adapter, troupe, over } = await started(folder)
  const { memories } = await troupe.memories.list("anna/")
  expect(memories.map(({ text }) => text)).toEqual(["Anna drinks green tea. 世界"])
  await (await troupe.chat("anna/new")).send("Which tea?").result()
  expect(JSON.stringify(adapter.requests[0]?.messages)).toContain("Anna drinks green tea.")
  expect(JSON.stringify(adapter.requests[0]?.messages)).not.toContain("cat")
  await troupe.memories.forget("anna/", memories[0]?.id ?? "")
  expect((await troupe.memories.list("anna/")).memories).toEqual([])
  await over()
})
