import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type LocalChatRef, Fake, type RunningTroupe, Troupe } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Store } from "@troupe/chat/store"
import { postgres, sqlite } from "../src/index.ts"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type PostgresAddress, workerPostgres } from "./double/postgresServer.ts"
import { queries } from "./double/queries.ts"
import { says, toolsOf, unicode } from "./double/conversations.ts"
import { readBack } from "./double/readBack.ts"

const fixture = (name: string): string => new URL(`fixtures/v2/${name}`, import.meta.url).pathname

interface Expected {
  readonly keys: Readonly<Record<string, string>>
  readonly chats: Readonly<Record<string, unknown>>
}

const expected = JSON.parse(readFileSync(fixture("expected.json"), "utf8")) as Expected

let server: PostgresAddress
let databases = 0
const template = `fixture_${process.pid}`

const databaseUrl = (name: string): string => {
  const url = new URL(server.url)
  url.pathname = `/${name}`
  return url.href
}

const folder = mkdtempSync(join(tmpdir(), "troupe-fixtures-"))
beforeAll(async () => {
  server = await workerPostgres()
  await queries(server.url, [`CREATE DATABASE ${template}`])
  await queries(databaseUrl(template), readFileSync(fixture("chats.sql"), "utf8").split(/;\n/).slice(0, -1))
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Makes a copy of each fixture, which the present code opens. */
const copied: Readonly<Record<string, () => Promise<() => Store.SessionStore>>> = {
  SQLite: async () => {
    const path = join(folder, `${++databases}.db`)
    copyFileSync(fixture("chats.db"), path)
    return () => sqlite(path)
  },
  PostgreSQL: async () => {
    const name = `${template}_${++databases}`
    await queries(server.url, [`CREATE DATABASE ${name} TEMPLATE ${template}`])
    return () => postgres(databaseUrl(name))
  }
}

/** A copy of each fixture, opened by the present code. */
const opened = Object.fromEntries(
  Object.entries(copied).map(([name, copy]) => [name, async () => (await copy())()] as const)
)

/** `began` resolves when `pay` runs; `paid` are the keys it was called with. */
interface Started {
  readonly troupe: RunningTroupe
  readonly store: Store.SessionStore
  readonly paid: ReadonlyArray<string>
  readonly began: Promise<void>
  readonly over: () => Promise<void>
}

/** A Troupe over the copy, with a model that answers everything by its text. */
const started = async (open: (() => Promise<Store.SessionStore>) | undefined): Promise<Started> => {
  if (open === undefined) throw new Error("There is no such database")
  const store = await open()
  const paid: Array<string> = []
  const began = Promise.withResolvers<void>()
  const adapter = Fake.make({
    respond: ({ messages }) => {
      const asked = messages.findLast(({ role }) => role === "user")
      return says(`The answer to ${asked === undefined ? "nothing" : Message.text(asked)}`)
    }
  })
  const tools = toolsOf((key) => {
    paid.push(key)
    began.resolve()
  })
  const troupe = await Troupe.start({ adapter, tools, permissions: { ask: () => "allow" }, store })
  const over = async () => {
    await troupe.stop()
    await store.close()
  }
  return { troupe, store, paid, began: began.promise, over }
}

const lastOf = ({ thread }: { readonly thread: { readonly messages: ReadonlyArray<Message.Message> } }): string => {
  const last = thread.messages.at(-1)
  return last === undefined ? "" : Message.text(last)
}

const contextOf = (chat: LocalChatRef) => {
  const context = chat.getSnapshot()?.context
  if (context === undefined) throw new Error(`${chat.id} has no process`)
  return context
}

describe.each(Object.keys(opened))("a database of version 2 in %s", (name) => {
  test("FIXTURE1. has every conversation, entry by entry, as the code that wrote it read it", async () => {
    const store = await opened[name]?.()
    expect(store === undefined ? {} : await readBack(store)).toEqual(expected.chats)
    expect(await store?.load("deleted")).toBeUndefined()
    expect((await store?.at("rewound", 6))?.thread.messages).toHaveLength(6)
    await store?.close()
  })

  test("FIXTURE2. is listed and searched, also for what was not indexed when it was closed", async () => {
    const store = await opened[name]?.()
    const idsOf = async (options: Store.ListOptions) =>
      (await store?.list(options))?.chats.map(({ id }) => id).toSorted()
    expect(await idsOf({ prefix: "anna/" })).toEqual(["anna/chat 1"])
    expect(await idsOf({ prefix: "Anna" })).toEqual(["Anna/chat 1"])
    expect(await idsOf({ prefix: "änne/" })).toEqual(["änne/chat 1"])
    expect(await idsOf({ search: "世界" })).toEqual(["finished"])
    expect(await idsOf({ search: "keep me BUSY" })).toEqual(["inbox"])
    await store?.close()
  })

  test("FIXTURE7. lists what waits in it, from its newest entries alone", async () => {
    const store = await opened[name]?.()
    const { waits = [], next } = (await store?.waiting?.()) ?? {}
    expect(next).toBeUndefined()
    expect(
      waits.map(({ chat, kind, toolCallId, tool, text, reason }) => [chat, kind, toolCallId, tool, text, reason])
    ).toEqual([
      ["question", "question", "call_0", "book", "For how many?", undefined],
      ["approval", "approval", "call_0", "wipe", '{"amount":10}', "permission to run was suspended"],
      ["manual", "tool_result", "call_0", "fetch", '{"amount":10}', undefined]
    ])
    const times = waits.map(({ askedAt }) => askedAt)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    await store?.close()
  })

  test("FIXTURE10. keeps the secrets of its owners, also when it is opened again", async () => {
    const open = await copied[name]?.()
    const before = open?.()
    await before?.secrets?.save("anna", "tokens", unicode)
    await before?.secrets?.save("bob", "tokens", "others")
    await before?.close()
    const after = open?.()
    expect(await after?.secrets?.load("anna", "tokens")).toBe(unicode)
    await after?.secrets?.delete("anna")
    expect(await after?.secrets?.load("anna", "tokens")).toBeUndefined()
    expect(await after?.secrets?.load("bob", "tokens")).toBe("others")
    await after?.close()
  })

  test("FIXTURE3. has its question answered, its approval given, and its manual call answered", async () => {
    const { troupe, over } = await started(opened[name])
    const question = await troupe.chat("question")
    expect(contextOf(question).pendingQuestion?.question).toBe("For how many?")
    expect(lastOf(await question.send("Four").result())).toBe("The answer to Four")
    const approval = await troupe.chat("approval")
    expect(contextOf(approval).pendingApprovals.map(({ kind, toolCall }) => [kind, toolCall.id])).toEqual([
      ["permission", "call_0"]
    ])
    const wiped = await approval.approve("call_0", { type: "allow" }).result()
    expect(wiped.thread.messages.slice(2).map(Message.text)).toEqual([
      "wiped",
      '{"found":"11 ☃"}',
      "The answer to Wipe the disk"
    ])
    const manual = await troupe.chat("manual")
    expect(lastOf(await manual.submitToolResults({ call_0: "fetched" }).result())).toBe(
      "The answer to Fetch it yourself"
    )
    await over()
  })

  test.each(["writing", "writing again", "writing and waiting"])(
    "FIXTURE4. asks about the open call of %s, which runs again under its old idempotency key",
    async (id) => {
      const { troupe, paid, began, over } = await started(opened[name])
      const chat = await troupe.chat(id)
      const [asked, ...others] = contextOf(chat).pendingApprovals
      expect([asked?.kind, asked?.toolCall.name, others]).toEqual(["unknown_outcome", "pay", []])
      const turn = chat.approve(asked?.toolCall.id ?? "", { type: "allow" })
      await began
      await chat.cancel()
      await turn.result()
      expect(paid).toEqual([expected.keys[id]])
      await over()
    }
  )

  test("FIXTURE5. runs its waiting inputs in their order, each once", async () => {
    const { troupe, store, over } = await started(opened[name])
    const chat = await troupe.chat("inbox")
    expect(contextOf(chat).phase).toBe("interrupted")
    const inputs = ["First in the line", "Without an id of its sender's", "Steers", unicode]
    for (const turn of chat.resume()) await turn.result()
    const { thread, inbox } = (await store.load("inbox")) ?? { thread: { messages: [] }, inbox: undefined }
    const said = thread.messages.filter(({ role }) => role === "user").map(Message.text)
    expect(said.toSorted()).toEqual(["Hello", "Keep me busy", ...inputs].toSorted())
    expect(said.filter((text) => text !== "Steers")).toEqual([
      "Hello",
      "Keep me busy",
      ...inputs.filter((text) => text !== "Steers")
    ])
    expect(inbox).toBeUndefined()
    await expect(chat.send("First in the line", { id: "first" }).result()).rejects.toMatchObject({
      reason: "already_delivered"
    })
    await over()
  })

  test("FIXTURE6. keeps the draft of an interrupted reply, the mode of a chat, and goes on after a retry", async () => {
    const { troupe, over } = await started(opened[name])
    const interrupted = await troupe.chat("interrupted")
    expect([contextOf(interrupted).phase, contextOf(interrupted).partial.text]).toEqual([
      "interrupted",
      "Once upon a time, in a løng story"
    ])
    expect(lastOf(await interrupted.retry().result())).toBe("The answer to Tell me a long story")
    expect(contextOf(await troupe.chat("mode")).permissionMode).toBe("plan")
    const fork = await troupe.fork("finished", { id: "another" })
    expect(lastOf(await fork.send("More").result())).toBe("The answer to More")
    expect((await troupe.rewind("rewound again", 4)).thread.messages).toHaveLength(4)
    await over()
  })
})
