/** Agents and tools over standard streams. */
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import { Mcp } from "../../src/index.ts"

const book = tool({ name: "book", execute: () => askUser("Which day?") })
const adapter = Fake.make({
  scripts: [
    [{ toolCall: { id: "c1", name: "book" } }, { finish: "tool_calls" }],
    [{ text: "Done." }, { finish: "stop" }]
  ]
})
const troupe = await Troupe.start({ adapter, tools: [book] })
Mcp.serve(troupe, {
  agents: { helper: { description: "Helps" } },
  tools: [tool({ name: "pid", execute: () => String(process.pid) })],
  instructions: "Ask the helper."
}).stdio()
process.stdin.once("close", () => void troupe.stop())
