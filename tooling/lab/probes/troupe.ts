/** Troupe as a framework for the probes: chats as supervised processes, over SQLite. */
import { join } from "node:path"
import { type LocalChatRef, tool, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { LiveTurn } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import { Observer, type Pid, Process } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import type { Cast, Company, Ended, Framework, ProbeTool, Role } from "./framework.ts"

const id = "probe"

const toolOf = ({ name, isBackground = false, isRead = false, run }: ProbeTool) =>
  tool({
    name,
    ...(isBackground ? { background: true } : {}),
    ...(isRead ? { effect: "read" } : {}),
    execute: (_, { signal }) => run(signal)
  })

const agentOf = ({ budget, deadlineMs }: Cast, name: string, role: Role) => {
  const { model, tools = [], agents = [], isBackground = false, sendsMail = false } = role
  const approved = new Set(tools.filter(({ isApproved }) => isApproved === true).map((one) => one.name))
  return {
    adapter: model,
    tools: [
      ...tools.map(toolOf),
      ...agents.map((agent) =>
        Agents.subagent(agent, {
          ...(deadlineMs === undefined ? {} : { timeoutMs: deadlineMs }),
          ...(isBackground ? { background: true } : {})
        })
      ),
      ...(sendsMail ? [Agents.message(), Agents.ask()] : [])
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
    read: async () => {
      const { chats } = await store.list({ children: true, prefix: `${id}/~/` })
      const records = await Promise.all(chats.map(async (one) => store.load(one.id)))
      return records.flatMap((record) => record?.thread.messages ?? []).map(Message.text)
    },
    rewind: async () => {
      const messages = (await store.load(id))?.thread.messages ?? []
      const second = messages.findIndex(({ role }, at) => at > 0 && role === "user")
      for (const { seq } of await troupe.history(id)) {
        const record = await troupe.at(id, seq)
        if (record?.running === false && record.thread.messages.length === second)
          return void (await troupe.rewind(id, seq))
      }
    },
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
