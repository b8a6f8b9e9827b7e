/** Troupe's agents for the probes: chats as supervised processes, over SQLite. */
import { join } from "node:path"
import { type LocalChatRef, tool, Troupe, user } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { LiveTurn } from "@troupe/chat/chats"
import type { AdapterEvent } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import type { Adapter, Request } from "@troupe/chat/models"
import { Observer, type Pid, Process } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import { events } from "../troupe.ts"
import type { AgentFramework, AgentTool, Cast, Company, Ended, Role } from "./agentFramework.ts"
import { type AgentModel, type Asked, replyTokens } from "./agentModel.ts"

const root = "probe"

const askedOf = ({ messages }: Request): Asked => {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const results = messages.slice(at).filter(({ role }) => role === "tool")
  return { input: Message.text(messages[at] ?? user("")), results: results.map(Message.text) }
}

async function* spending(chunks: AsyncIterable<AdapterEvent>): AsyncGenerator<AdapterEvent, void> {
  for await (const event of chunks) {
    if (event.type === "message_completed") {
      yield { type: "raw_chunk", chunk: { type: "usage", usage: { totalTokens: replyTokens } } }
    }
    yield event
  }
}

const adapterOf = (name: string, model: AgentModel): Adapter.Adapter => ({
  name,
  stream: (request, { signal }) => spending(events(model.reply(askedOf(request), signal)))
})

const toolOf = ({ name, schema, effect, run, isBackground }: AgentTool) =>
  tool({
    name,
    parameters: schema,
    effect,
    ...(isBackground === true ? { background: true } : {}),
    execute: (args, { toolCall, signal }) => run(args, { id: toolCall.id, signal })
  })

const agentOf = ({ budget, deadlineMs }: Cast, name: string, { model, tools = [], agents = [] }: Role) => {
  const approved = tools.filter(({ isApproved }) => isApproved === true).map((one) => one.name)
  const isAsked = (called: string): boolean => approved.includes(called)
  return {
    adapter: adapterOf(name, model),
    tools: [
      ...tools.map(toolOf),
      ...agents.map((agent) => Agents.subagent(agent, deadlineMs === undefined ? {} : { timeoutMs: deadlineMs }))
    ],
    permissions: {
      ask: ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
        isAsked(toolCall.name) ? ("suspend" as const) : ("allow" as const)
    },
    ...(name === "boss" && budget !== undefined ? { budget: { tokens: budget } } : {})
  }
}

/** The processes of chats below a process. */
const chatsBelow = (nodes: ReadonlyArray<Observer.Node>, isBelow = false): ReadonlyArray<Pid> =>
  nodes.flatMap(({ pid, label, children }) => [
    ...(isBelow && label.startsWith("Chat") ? [pid] : []),
    ...chatsBelow(children, isBelow || label === "SubagentSupervisor")
  ])

const ended = async (turn: LiveTurn): Promise<Ended> => {
  const { haltedReason, finalResponse } = await turn.result()
  return { reason: haltedReason, text: finalResponse?.outputText ?? "" }
}

const start = async (cast: Cast, folder: string): Promise<Company> => {
  const store = sqlite(join(folder, "chats.db"))
  const troupe = await Troupe.start({
    store,
    agents: Object.fromEntries(Object.entries(cast.roles).map(([name, role]) => [name, agentOf(cast, name, role)])),
    agent: "boss",
    ...(cast.unloadMs === undefined ? {} : { passivateAfterMs: cast.unloadMs }),
    maxUnproductive: 0,
    maxTurns: 50
  })
  let chat: LocalChatRef = await troupe.chat(root)
  const children = (): ReadonlyArray<Pid> => chatsBelow(Observer.tree(troupe.system))
  return {
    send: (input) => ended(chat.send(input)),
    retry: async () => {
      chat = await troupe.chat(root)
      return ended(chat.retry())
    },
    cancel: () => chat.cancel(),
    stop: () => chat.stop(),
    waiting: async () =>
      (await troupe.waiting()).waits.filter((wait) => wait.chat === root).map(({ toolCallId }) => toolCallId),
    allow: async (address) => ended(chat.approve(address, { type: "allow" })),
    kill: (which) => {
      const pid = which === "root" ? chat.pid : children()[0]
      if (pid !== undefined) Process.exit(pid, "killed")
    },
    said: async () => ((await store.load(root))?.thread.messages ?? []).map(Message.text),
    alive: () => children().length,
    close: async () => {
      await troupe.stop()
      await store.close()
    }
  }
}

/** Trees of chats. */
export const framework: AgentFramework = { name: "Troupe", module: import.meta.url, cannot: {}, start }
