/** What a sub-agent waits for, in a database that two programs use one after the other. */
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { Store } from "@troupe/chat/store"
import { afterAll, beforeAll, expect, test } from "vitest"
import { postgres, sqlite } from "../src/index.ts"
import { Folder } from "./double/folder.ts"
import { type PostgresAddress, workerPostgres } from "./double/postgresServer.ts"

let server: PostgresAddress
const folder = new Folder()
beforeAll(async () => {
  server = await workerPostgres()
}, 60_000)
afterAll(() => folder[Symbol.dispose]())

const calls = (id: string, name: string, args: Record<string, unknown> = {}): Fake.Script => [
  { toolCall: { id, name, arguments: args } },
  { finish: "tool_calls" }
]
const says = (text: string): Fake.Script => [{ text }, { finish: "stop" }]

const path = folder.file()
const stores: Readonly<Record<string, () => Store.SessionStore>> = {
  SQLite: () => sqlite(path),
  PostgreSQL: () => postgres(server.url, { schema: `asks_${process.pid}` })
}

test.each(Object.keys(stores))(
  "SUB10, SUB11 in %s the waits of a sub-agent are listed once, and a next program applies the answers",
  async (name) => {
    const open = stores[name]
    if (open === undefined) throw new Error(`no store ${name}`)
    let written = 0
    const start = async (boss: ReadonlyArray<Fake.Script>, guide: ReadonlyArray<Fake.Script>) => {
      const store = open()
      const troupe = await Troupe.start({
        adapter: Fake.make({ scripts: boss }),
        tools: [Agents.subagent("guide")],
        agents: {
          guide: {
            adapter: Fake.make({ scripts: guide }),
            tools: [
              tool({ name: "write", execute: () => `written ${(written += 1)}` }),
              tool({ name: "which", execute: () => askUser("Which one?") })
            ],
            permissions: { ask: ({ toolCall }) => (toolCall.name === "write" ? "suspend" : "allow") }
          }
        },
        store
      })
      const stop = async () => {
        await troupe.stop()
        await store.close?.()
      }
      return { troupe, stop }
    }
    const first = await start([calls("c0", "guide", { input: "Dig" })], [calls("k0", "write")])
    await (await first.troupe.chat("anna/1")).send("Go").result()
    await first.stop()

    const second = await start([], [calls("k1", "which")])
    const { waits } = await second.troupe.waiting({ owner: "anna/" })
    expect(waits).toMatchObject([{ chat: "anna/1", kind: "approval", toolCallId: "c0/~/k0", agent: { name: "guide" } }])
    const asked = await (await second.troupe.chat("anna/1")).approve("c0/~/k0", { type: "allow" }).result()
    expect(asked.pendingApprovals).toMatchObject([{ toolCall: { id: "c0/~/k1" }, kind: "question" }])
    await second.stop()

    const third = await start([says("Done.")], [says("It is this one.")])
    const chat = await third.troupe.chat("anna/1")
    const { finalResponse } = await chat.approve("c0/~/k1", { type: "result", value: "this" }).result()
    expect([finalResponse?.outputText, written]).toEqual(["Done.", 1])
    expect((await third.troupe.waiting()).waits).toEqual([])
    await third.stop()
  }
)
