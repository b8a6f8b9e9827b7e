/**
 * A program with a chat that orders books: it keeps its chats in a database, and a test kills it.
 *
 * It writes what the chat waits for after each turn, as a line of JSON, and reads decisions from its input.
 */
import { Fake, Troupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Mcp } from "../../src/index.ts"

const [, , database = "", sales = "", protocol = ""] = process.argv
const system = System.make()
const args = [fileURLToPath(new URL("bookshop.ts", import.meta.url)), sales, protocol]
const shop = await Mcp.start(
  system,
  { command: process.execPath, args },
  { name: "bookshop", restarts: { firstDelayMs: 1 } }
)
const adapter = Fake.make({
  respond: ({ messages }) =>
    messages.at(-1)?.role === "user"
      ? [{ toolCall: { id: "c1", name: "order" } }, { finish: "tool_calls" }]
      : [{ text: "Done." }, { finish: "stop" }]
})
const troupe = await Troupe.start({ system, adapter, tools: shop.tools, store: sqlite(database) })
const chat = await troupe.chat("anna")

const report = async (): Promise<void> => {
  const { waits } = await troupe.waiting()
  const results = chat.thread.messages.filter(({ role }) => role === "tool").map(({ content }) => content)
  console.log(JSON.stringify({ waits, results, server: shop.health }))
}

await report()
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as { readonly say?: string; readonly id?: string; readonly decision?: object }
  const turn =
    command.say === undefined ? chat.approve(command.id ?? "", command.decision as never) : chat.send(command.say)
  await turn.result()
  await report()
}
