/** A chat in the terminal. Ctrl-C cancels an answer; at the prompt, Ctrl-C or Ctrl-D ends the program. */
import { createInterface } from "node:readline/promises"
import { Troupe } from "@troupe/chat"
import { agent } from "./agent.ts"
import { say } from "./conversation.ts"
import { adapter } from "./model.ts"
import { store } from "./store.ts"

const troupe = await Troupe.start({ ...agent, adapter, store })
const chat = await troupe.chat("terminal")

const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: "› " })
const write = (text: string): void => void process.stdout.write(text)
// Without an answer, because the input has ended, a call is refused.
const ended = new AbortController()
lines.once("close", () => ended.abort())
const confirm = async (question: string): Promise<boolean> =>
  /^y/i.test(await lines.question(question, { signal: ended.signal }).catch(() => "no"))

let isAnswering = false
lines.on("SIGINT", () => {
  if (isAnswering) void chat.cancel()
  else lines.close()
})

write("Ask where order 42 is, or ask for a refund of order 42.\n")
lines.prompt()
for await (const line of lines) {
  isAnswering = true
  if (line.trim() !== "") await say(chat, line, { write, confirm })
  isAnswering = false
  if (!ended.signal.aborted) lines.prompt()
}

await troupe.stop()
process.exit()
