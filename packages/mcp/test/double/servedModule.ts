/** What `npx troupe mcp` serves: an agent that asks, and a tool. */
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import type { Mcp } from "../../src/index.ts"

console.log("This line is no message of the protocol.")
const book = tool({ name: "book", execute: () => askUser("Which day?") })
const adapter = Fake.make({
  scripts: [
    [{ toolCall: { id: "c1", name: "book" } }, { finish: "tool_calls" }],
    [{ text: "Done." }, { finish: "stop" }]
  ]
})
export const troupe = await Troupe.start({ adapter, tools: [book], silent: true })
export const mcp: Mcp.McpServeOptions = {
  agents: { helper: { description: "Helps" } },
  tools: [tool({ name: "pid", execute: () => String(process.pid) })],
  conversations: true
}
