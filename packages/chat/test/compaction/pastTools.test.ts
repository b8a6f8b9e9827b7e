import { expect, it } from "vitest"
import { Fake, tool, Troupe } from "@troupe/chat"
import { Compaction } from "@troupe/chat/compaction"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import type { Tool } from "@troupe/chat/tools"

const call = (id: string, name: string, given: Record<string, unknown>) => [
  { toolCall: { id, name, arguments: given } },
  { finish: "tool_calls" as const }
]
const says = (text: string) => [{ text }, { finish: "stop" as const }]

it("PAST1: search_history finds messages of other chats only below the prefix that the host gives, whatever the model asks", async () => {
  const store = Store.memory()
  const found = async (tools: ReadonlyArray<Tool.Tool>) => {
    const given = { query: "umbrella", prefix: "", chat: "ben/1" }
    const troupe = await Troupe.start({
      adapter: Fake.make({ scripts: [call("c1", "search_history", given), says("Done.")] }),
      tools,
      store
    })
    const chat = await troupe.chat("anna/2")
    const { thread } = await chat.send("Where is it?").result()
    await troupe.stop()
    const last = thread.messages.findLast(({ role }) => role === "tool")
    return JSON.parse(last === undefined ? "" : Message.text(last)) as unknown
  }
  for (const [id, text] of [
    ["anna/1", "The umbrella is red."],
    ["ben/1", "My umbrella is blue."]
  ] as const)
    await store.append(id, [{ type: "MessagesAdded", messages: [{ role: "user", content: text }] }], { after: 0 })
  expect(await found([Compaction.searchHistory()])).toEqual([])
  const prefix = ({ chat }: Tool.ToolContext): string => chat?.id.replace(/[^/]*$/, "") ?? ""
  expect(await found([Compaction.searchHistory({ prefix })])).toMatchObject([
    { chat: "anna/1", message: 0, text: "The umbrella is red." }
  ])
})

it("PAST1: read_result pages through a shortened result, search_history finds a message that requests leave out", async () => {
  const big = tool({ name: "big", effect: "read", execute: () => `${"x".repeat(9_000)}the end` })
  const adapter = Fake.make({
    scripts: [
      call("c1", "big", {}),
      says("I read it; the umbrella is red."),
      call("c2", "read_result", { message: 2, from: 8_000 }),
      call("c3", "search_history", { query: "Which colour has the umbrella?" }),
      says("Done.")
    ]
  })
  const tools = [big, Compaction.readResult(), Compaction.searchHistory()]
  const troupe = await Troupe.start({ adapter, tools, store: Store.memory() })
  const chat = await troupe.chat("a")
  await chat.send("Read it").result()
  const { thread } = await chat.send("And the end?").result()
  const results = thread.messages
    .filter(({ role }) => role === "tool")
    .slice(1)
    .map(({ content }) => (typeof content === "string" ? (JSON.parse(content) as unknown) : content))
  expect(results[0]).toEqual({ text: `${"x".repeat(1_000)}the end`, of: 9_007 })
  expect(results[1]).toMatchObject([{ message: 3, role: "assistant", text: "I read it; the umbrella is red." }])
  expect(await troupe.search({ query: "umbrella", chat: "a" })).toMatchObject([{ place: 3 }, { place: 8 }])
  await troupe.stop()
})
