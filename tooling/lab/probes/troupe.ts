/** Troupe as a framework for the probes: chats as supervised processes, over SQLite. */
import { join } from "node:path"
import { type LocalChatRef, tool, Troupe, user } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { LiveTurn } from "@troupe/chat/chats"
import type { AdapterEvent } from "@troupe/chat/events"
import { Message, ToolCall } from "@troupe/chat/messages"
import type { Adapter, Request } from "@troupe/chat/models"
import { Observer, type Pid, Process } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import type { Cast, Company, Ended, Framework, ProbeTool, Role } from "./framework.ts"
import { type Asked, type Call, type Model, replyTokens } from "./model.ts"

const id = "probe"

const askedOf = ({ messages }: Request): Asked => {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const results = messages.slice(at).filter(({ role }) => role === "tool")
  return { input: Message.text(messages[at] ?? user("")), results: results.map(Message.text) }
}

async function* eventsOf(reply: AsyncIterable<string | Call>): AsyncGenerator<AdapterEvent, void> {
  const message = { role: "assistant", content: "" } as const
  let finishReason: "stop" | "tool_calls" = "stop"
  yield { type: "message_started", message }
  for await (const part of reply) {
    if (typeof part === "string") yield { type: "text_delta", id: null, delta: part }
    else {
      const { id: callId, name, json: rawArguments } = part
      finishReason = "tool_calls"
      yield { type: "tool_call_started", id: callId, name }
      const parsed = ToolCall.parseArguments(rawArguments)
      yield { type: "tool_call_completed", id: callId, name, arguments: parsed, rawArguments }
    }
  }
  yield { type: "raw_chunk", chunk: { type: "usage", usage: { totalTokens: replyTokens } } }
  yield { type: "message_completed", message, finishReason }
}

const adapterOf = (name: string, model: Model): Adapter.Adapter => ({
  name,
  stream: (request, { signal }) => eventsOf(model.reply(askedOf(request), signal))
})

const toolOf = ({ name, isBackground = false, run }: ProbeTool) =>
  tool({ name, ...(isBackground ? { background: true } : {}), execute: (_, { signal }) => run(signal) })

const agentOf = ({ budget, deadlineMs }: Cast, name: string, { model, tools = [], agents = [] }: Role) => {
  const approved = new Set(tools.filter(({ isApproved }) => isApproved === true).map((one) => one.name))
  return {
    adapter: adapterOf(name, model),
    tools: [
      ...tools.map(toolOf),
      ...agents.map((agent) => Agents.subagent(agent, deadlineMs === undefined ? {} : { timeoutMs: deadlineMs }))
    ],
    permissions: {
      ask: ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
        approved.has(toolCall.name) ? ("suspend" as const) : ("allow" as const)
    },
    ...(name === "boss" && budget !== undefined ? { budget: { tokens: budget } } : {})
  }
}

const endedOf = async (turn: LiveTurn): Promise<Ended> => {
  const { haltedReason, finalResponse } = await turn.result()
  return { reason: haltedReason, text: finalResponse?.outputText ?? "" }
}

/** The processes of chats below a process. */
const chatsBelow = (nodes: ReadonlyArray<Observer.Node>, isBelow = false): ReadonlyArray<Pid> =>
  nodes.flatMap(({ pid, label, children }) => [
    ...(isBelow && label.startsWith("Chat") ? [pid] : []),
    ...chatsBelow(children, isBelow || label === "SubagentSupervisor")
  ])

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
  let chat: LocalChatRef = await troupe.chat(id)
  const children = (): ReadonlyArray<Pid> => chatsBelow(Observer.tree(troupe.system))
  return {
    send: (input) => endedOf(chat.send(input)),
    retry: async () => {
      chat = await troupe.chat(id)
      return endedOf(chat.retry())
    },
    cancel: () => chat.cancel(),
    stop: () => chat.stop(),
    waiting: async () =>
      (await troupe.waiting()).waits.filter((wait) => wait.chat === id).map(({ toolCallId }) => toolCallId),
    allow: (address) => endedOf(chat.approve(address, { type: "allow" })),
    kill: (which) => {
      const pid = which === "root" ? chat.pid : children()[0]
      if (pid !== undefined) Process.exit(pid, "killed")
    },
    said: async () => ((await store.load(id))?.thread.messages ?? []).map(Message.text),
    alive: () => children().length,
    close: async () => {
      await troupe.stop()
      await store.close()
    }
  }
}

/** Troupe. */
export const framework: Framework = {
  name: "Troupe",
  module: import.meta.url,
  cannot: {},
  start
}
