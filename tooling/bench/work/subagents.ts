/** A turn that gives its task to a sub-agent, and the same two turns as plain chats. */
import { type RunningTroupe, tool, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"
import { answers, chats, readLength, together, words } from "./programA.ts"

async function* calls(name: string): AsyncGenerator<AdapterEvent, void> {
  const call = { id: "c", name, arguments: { input: "go" } }
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  yield { type: "tool_call_started", id: call.id, name }
  yield { type: "tool_call_completed", ...call, rawArguments: '{"input":"go"}' }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "tool_calls" }
}

/** Calls the tool, and then answers. */
const caller = (name: string): Adapter.Adapter => ({
  name: "caller",
  stream: ({ messages }) => (messages.at(-1)?.role === "tool" ? answers("by turns") : calls(name))
})

const answering: Adapter.Adapter = { name: "answering", stream: () => answers("by turns") }

const one = async (troupe: RunningTroupe, id: string, agent?: string): Promise<void> => {
  const chat = await troupe.chat(id, agent === undefined ? {} : { agent })
  await readLength(chat.send("go"), words)
}

/** 1,000 chats, each with a child that answers. */
export const withChildren = async (): Promise<void> => {
  const troupe = await Troupe.start({
    adapter: caller("help"),
    tools: [Agents.subagent("help")],
    agents: { help: { adapter: answering, tools: [] } }
  })
  await together(chats, (index) => one(troupe, `chat-${index}`))
  await troupe.stop()
}

/** 1,000 chats whose tool answers at once, and 1,000 chats that answer without a tool. */
export const inPairs = async (): Promise<void> => {
  const help = tool({ name: "help", effect: "write", execute: () => "done" })
  const troupe = await Troupe.start({
    adapter: caller("help"),
    tools: [help],
    agents: { plain: { adapter: answering, tools: [] } }
  })
  await together(chats, async (index) => {
    await one(troupe, `chat-${index}`)
    await one(troupe, `other-${index}`, "plain")
  })
  await troupe.stop()
}
