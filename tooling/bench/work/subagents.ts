/** A turn that gives its task to a sub-agent, and the same two turns as plain chats. */
import { type RunningTroupe, tool } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { Adapter } from "@troupe/chat/models"
import { answers, chats, readLength, together, wantsTools, words } from "./programA.ts"
import { withTroupe } from "./troupe.ts"

const calls = [{ id: "c", name: "help", arguments: { input: "go" } }]

/** Calls the tool, and then answers. */
const caller: Adapter.Adapter = {
  name: "caller",
  stream: ({ messages }) => (messages.at(-1)?.role === "tool" ? answers("by turns") : wantsTools(calls))
}

const answering: Adapter.Adapter = { name: "answering", stream: () => answers("by turns") }

const one = async (troupe: RunningTroupe, id: string, agent?: string): Promise<void> => {
  const chat = await troupe.chat(id, agent === undefined ? {} : { agent })
  await readLength(chat.send("go"), words)
}

/** 1,000 chats, each with a child that answers. */
export const withChildren = (): Promise<void> =>
  withTroupe(
    { adapter: caller, tools: [Agents.subagent("help")], agents: { help: { adapter: answering, tools: [] } } },
    (troupe) => together(chats, (index) => one(troupe, `chat-${index}`))
  )

const help = tool({ name: "help", effect: "write", execute: () => "done" })

/** 1,000 chats whose tool answers at once, and 1,000 chats that answer without a tool. */
export const inPairs = (): Promise<void> =>
  withTroupe({ adapter: caller, tools: [help], agents: { plain: { adapter: answering, tools: [] } } }, (troupe) =>
    together(chats, async (index) => {
      await one(troupe, `chat-${index}`)
      await one(troupe, `other-${index}`, "plain")
    })
  )
