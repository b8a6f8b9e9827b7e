/**
 * A program with a chat that uses a server behind a sign-in: it keeps its chats and the tokens in one database, and a test kills it.
 */
import { Fake } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { System } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import { Mcp } from "../../src/index.ts"
import { talk } from "./lineChat.ts"

const [, , database = "", url = ""] = process.argv
const store = sqlite(database)
const system = System.make()
const auth = { redirectUrl: "http://localhost:1/callback", storage: { store, owner: "anna" } }
const shop = await Mcp.start(system, { url, auth }, { name: "shop", timeoutMs: 120_000 })
const adapter = Fake.make({
  respond: ({ messages }) => {
    const last = messages.at(-1)
    return last?.role === "user"
      ? [{ toolCall: { id: `c${messages.length}`, name: Message.text(last) } }, { finish: "tool_calls" }]
      : [{ text: "Done." }, { finish: "stop" }]
  }
})
await talk(system, shop, { store, adapter })
