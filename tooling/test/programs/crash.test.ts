import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type PostgresAddress, workerPostgres } from "../../../packages/store/test/double/postgresServer.ts"
import { user } from "@troupe/chat"
import { Usage } from "@troupe/chat/messages"
import { type Conversation, Store } from "@troupe/chat/store"
import { audited, nothingPromised, takeUp } from "../../crash/audit.ts"
import { crash, type Crashed } from "../../crash/crash.ts"
import { wrongTrees } from "../../crash/treeAudit.ts"

let server: PostgresAddress
const folder = mkdtempSync(join(tmpdir(), "troupe-crash-"))
beforeAll(async () => {
  server = await workerPostgres()
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
})

const answersOf = ({ promised }: Crashed): number =>
  Array.from(promised.answered.values()).reduce((sum, texts) => sum + texts.size, 0)

describe("a program that is killed at any moment", () => {
  test.each([
    ["SQLite", () => join(folder, "chats.db"), 8],
    ["PostgreSQL", () => server.url, 8]
  ] as const)(
    "loses nothing of what %s had acknowledged, and doubles nothing",
    { timeout: 120_000 },
    async (name, database, lives) => {
      const crashed = await crash({ database: database(), journal: join(folder, `${name}.journal`), lives, seed: 7 })
      expect(crashed.wrong).toEqual([])
      expect(crashed.promised.accepted.size).toBeGreaterThan(lives)
      expect(answersOf(crashed)).toBeGreaterThan(0)
      expect(crashed.interrupted).toBeGreaterThan(0)
    }
  )

  test(
    "whose chats have trees of agents leaves no child without an owner, and ends every chat",
    { timeout: 120_000 },
    async () => {
      const paths = { database: join(folder, "trees.db"), journal: join(folder, "trees.journal") }
      const crashed = await crash({ ...paths, lives: 6, seed: 7, areTrees: true })
      expect(crashed.wrong).toEqual([])
      expect(crashed.calls).toBeGreaterThan(0)
      expect(crashed.interrupted).toBeGreaterThan(0)
    }
  )
})

const recordOf = (id: string, ...texts: ReadonlyArray<string>): Conversation => ({
  id,
  thread: { messages: texts.map((text) => user(text)) },
  usage: Usage.empty,
  running: true,
  pendingToolCalls: []
})

test("the audit finds what is lost, doubled, without its intent, and revived as something else", async () => {
  const store = Store.memory()
  const promised = nothingPromised()
  const found = new Map()
  await store.save(recordOf("a", "one", "two", "two"))
  const lines = [
    { type: "accepted", chat: "a", input: "one" },
    { type: "accepted", chat: "a", input: "three" },
    { type: "accepted", chat: "b", input: "four" },
    { type: "answered", chat: "a", text: "The answer to one." },
    { type: "forked", chat: "a", to: "a/1" }
  ] as const
  expect(takeUp(lines, promised, found)).toEqual([])
  const journal = [
    ["k1", "note one"],
    ["k1", "note one"]
  ] as const
  expect(await audited(store, promised, journal, found)).toEqual([
    "KILL5: there is no a/1",
    "KILL1: two is 2 times in a",
    "KILL1: three is not in a",
    'KILL2: "The answer to one." is not in a',
    "KILL1: there is no b",
    "KILL4: the call k1 ran 2 times",
    "KILL4: nothing is kept of note one, which ran",
    "KILL4: nothing is kept of note one, which ran"
  ])
  const revived = { type: "revived", chat: "a", phase: "idle", partial: "" } as const
  expect(takeUp([revived], promised, found)).toEqual(["a is idle instead of interrupted"])
  expect(takeUp([{ ...revived, phase: "interrupted", partial: "So" }], promised, found)).toEqual([
    'a has said "So" instead of ""'
  ])
})

test("the audit of trees finds a child without an owner, a chat that is not over, a task without an end, and an allowed call that did not run", () => {
  const promised = nothingPromised()
  promised.allowed.add("note a").add("note b")
  const ran = { role: "tool", toolCallId: "note a", content: "noted" } as const
  const child = { ...recordOf("a/~/1"), running: false, parent: { chat: "a", call: "research a", depth: 1 } }
  const records = [
    { ...recordOf("a", "one"), running: true },
    { ...child, thread: { messages: [ran] } }
  ]
  const handle = { role: "tool", toolCallId: "chore a", content: '{"task":"t1","status":"running"}' } as const
  records.push({ ...recordOf("b"), running: false, thread: { messages: [handle] } })
  const found = new Map(records.map((record) => [record.id, { record, audited: 0 }]))
  const orphan = "KILL7: a/~/1 has no owner: a has no call research a"
  expect(wrongTrees(found, promised, false)).toEqual([orphan])
  expect(wrongTrees(found, promised, true)).toEqual([
    orphan,
    "KILL10: the end of the task t1 is 0 times in b",
    "KILL8: the turn of a is not over",
    "KILL9: the allowed call note b has the result nothing"
  ])
})
