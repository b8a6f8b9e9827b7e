import { Fake, tool, Troupe } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Adapter } from "@troupe/chat/models"
import { Store } from "@troupe/chat/store"
import { afterAll, beforeAll, expect, test } from "vitest"
import { postgres } from "../../src/index.ts"
import { type PostgresAddress, workerPostgres } from "../double/postgresServer.ts"
import { queries } from "../double/queries.ts"

let server: PostgresAddress
const schema = `home_${process.pid}`
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)
afterAll(async () => {
  await queries(server.url, [`DROP SCHEMA IF EXISTS ${schema} CASCADE`])
}, 60_000)

/** The gate holds a reply that will call `pay`, the handler of `slow`, or a reply of text. */
const kinds = ["pay", "slow", "text"] as const
const ids = Array.from({ length: 60 }, (_, at) => `${kinds[at % 3]}/${at}`)
const buckets = Array.from(new Set(ids.map(Store.bucketOf)))
const keyOf = (bucket: number): string => `bucket:${bucket}`

const script = (kind: string): Fake.Script =>
  kind === "text"
    ? [{ text: "Once " }, { text: "upon a time" }, { finish: "stop" }]
    : [{ text: "Let me " }, { toolCall: { id: "c0", name: kind, arguments: {} } }, { finish: "tool_calls" }]

/** An adapter whose replies to a person are held after their first word, until the gate opens. */
const heldAt = (gate: Promise<void>, adapter: Adapter.Adapter): Adapter.Adapter => ({
  name: adapter.name,
  async *stream(request, options) {
    for await (const events of await adapter.stream(request, options)) {
      yield events
      const isWord = !Array.isArray(events) && "type" in events && events.type === "text_delta"
      if (isWord && request.messages.at(-1)?.role === "user") await gate
    }
  }
})

/** A program that has claimed this epoch, and believes to be the home of every conversation. */
const program = async (epoch: number, gate: Promise<void>) => {
  const store = postgres(server.url, { schema, maxConnections: 4 })
  const ran: Array<string> = []
  const waiting = async (name: string): Promise<string> => {
    ran.push(name)
    if (name === "slow") await gate
    return "done"
  }
  const tools = ["pay", "slow"].map((name) => tool({ name, effect: "write", execute: () => waiting(name) }))
  const fake = Fake.make({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      if (last === undefined || last.role !== "user") return [{ text: "That was it." }, { finish: "stop" }]
      return script(Message.text(last))
    }
  })
  const home = {
    fenceOf: (id: string) => ({ key: keyOf(Store.bucketOf(id)), epoch }),
    mayAct: () => true
  }
  await store.claim(buckets.map(keyOf), epoch)
  const held = heldAt(gate, fake)
  const slowly: Adapter.Adapter = {
    name: "slowly",
    stream: (request, options) => {
      const asked = request.messages.at(-1)
      return (asked !== undefined && Message.text(asked) === "slow" ? fake : held).stream(request, options)
    }
  }
  const troupe = await Troupe.start({ adapter: slowly, tools, store, home, draftEveryMs: 5 })
  return { store, troupe, ran }
}

/** The rows of all conversations, as PostgreSQL has them. */
const rows = async (): Promise<unknown> => [
  await queries(server.url, [`SELECT id, seq, written, updated_at FROM "${schema}".chats ORDER BY id`]),
  await queries(server.url, [`SELECT chat, seq, body FROM "${schema}".drafts ORDER BY chat`]),
  await queries(server.url, [`SELECT chat, id FROM "${schema}".inbox ORDER BY chat, id`])
]

test("CLUSTER1. sixty chats that wake after their home was taken write nothing and start no handler; the next home goes on", async () => {
  const frozen = Promise.withResolvers<void>()
  const one = await program(1, frozen.promise)
  const chats = await Promise.all(ids.map((id) => one.troupe.chat(id)))
  const turns = chats.map((chat) => chat.send(chat.id.slice(0, chat.id.indexOf("/"))))
  for (const turn of turns) expect((await turn.receipt).status).toBe("delivered")
  await expect.poll(() => one.ran.length).toBe(20)
  const drafts = `SELECT count(*)::int AS count FROM "${schema}".drafts`
  await expect.poll(() => queries(server.url, [drafts]), { timeout: 30_000 }).toEqual([{ count: 60 }])
  const readers = chats.map((chat) => chat.attach())
  await Promise.all(readers.map((reader) => reader.next()))

  const two = await program(2, Promise.resolve())
  const { chats: running } = await two.store.list({ running: true, bucket: buckets, limit: 100 })
  expect(running.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  const before = await rows()
  frozen.resolve()
  for (const turn of turns) await expect(turn.result()).rejects.toMatchObject({ reason: "moved" })
  const drained = async (reader: (typeof readers)[number]): Promise<never> => {
    for (;;) await reader.next()
  }
  for (const reader of readers) await expect(drained(reader)).rejects.toMatchObject({ reason: "moved" })
  expect(chats.filter(({ pid }) => pid !== undefined)).toEqual([])
  expect(one.ran).toEqual(Array.from({ length: 20 }, () => "slow"))
  await one.troupe.stop()
  await one.store.close()
  expect(await rows()).toEqual(before)

  for (const id of ids) {
    const chat = await two.troupe.chat(id)
    const asked = chat.getSnapshot()?.context.pendingApprovals ?? []
    expect(asked.map(({ kind }) => kind)).toEqual(id.startsWith("slow") ? ["unknown_outcome"] : [])
    const turn = asked.length === 0 ? chat.retry() : chat.approve("c0", { type: "allow" })
    expect((await turn.result()).haltedReason).toBe("completed")
  }
  expect(two.ran.toSorted()).toEqual(Array.from({ length: 40 }, (_, at) => (at < 20 ? "pay" : "slow")))
  await two.troupe.stop()
  await two.store.close()
}, 60_000)
