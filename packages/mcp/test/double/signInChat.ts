/**
 * A program with a chat that uses a server behind a sign-in: it keeps its chats in a database and its tokens in a file, and a test kills it.
 *
 * It writes what the chat waits for after each turn, as a line of JSON, and reads decisions from its input.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { Fake, Troupe } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { System } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import { Mcp } from "../../src/index.ts"

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
const troupe = await Troupe.start({ system, adapter, tools: shop.tools, store: sqlite(database) })
const chat = await troupe.chat("anna")

const report = async (): Promise<void> => {
  const { waits } = await troupe.waiting()
  const results = chat.thread.messages.filter(({ role }) => role === "tool").map(({ content }) => content)
  console.log(JSON.stringify({ waits, results }))
}

await report()
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as { readonly say?: string; readonly id?: string; readonly decision?: object }
  const turn =
    command.say === undefined ? chat.approve(command.id ?? "", command.decision as never) : chat.send(command.say)
  await turn.result()
  await report()
}
