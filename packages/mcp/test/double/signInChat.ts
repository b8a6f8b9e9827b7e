/**
 * A program with a chat that uses a server behind a sign-in: it keeps its chats in a database and its tokens in a file, and a test kills it.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { Fake } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { System } from "@troupe/otp"
import { Mcp } from "../../src/index.ts"
import { talk } from "./lineChat.ts"

const [, , database = "", tokens = "", url = ""] = process.argv
const texts = JSON.parse(readFileSync(tokens, "utf8")) as Record<string, string | undefined>
const storage: Mcp.SignInStorage = {
  load: async (key) => texts[key],
  save: async (key, text) => {
    texts[key] = text
    writeFileSync(tokens, JSON.stringify(texts))
  }
}
const system = System.make()
const auth = { redirectUrl: "http://localhost:1/callback", storage }
const shop = await Mcp.start(system, { url, auth }, { name: "shop", timeoutMs: 120_000 })
const adapter = Fake.make({
  respond: ({ messages }) => {
    const last = messages.at(-1)
    return last?.role === "user"
      ? [{ toolCall: { id: `c${messages.length}`, name: Message.text(last) } }, { finish: "tool_calls" }]
      : [{ text: "Done." }, { finish: "stop" }]
  }
})
await talk(system, shop, { database, adapter })
