/**
 * A program with a chat that orders books: it keeps its chats in a database, and a test kills it.
 */
import { Fake } from "@troupe/chat"
import { System } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import { fileURLToPath } from "node:url"
import { Mcp } from "../../src/index.ts"
import { talk } from "./lineChat.ts"

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
await talk(system, shop, { store: sqlite(database), adapter })
