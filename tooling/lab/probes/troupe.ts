/** Troupe's two APIs as frameworks for the probes. */
import { join } from "node:path"
import { askUser, Chat, type LocalChatRef, Engine, tool, Troupe, user } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { LiveTurn } from "@troupe/chat/chats"
import type { AdapterEvent, Event } from "@troupe/chat/events"
import { Message, Thread, ToolCall } from "@troupe/chat/messages"
import type { Adapter, Request } from "@troupe/chat/models"
import { Store } from "@troupe/chat/store"
import { Observer, type Pid, Process } from "@troupe/otp"
import { sqlite } from "@troupe/store"
import type { Cast, Company, Ended, Framework, ProbeTool, Received, Role, Turn } from "./framework.ts"
import { type Asked, type Chunk, type Model, replyTokens } from "./model.ts"

const id = "probe"

const askedOf = ({ messages }: Request): Asked => {
  const at = messages.findLastIndex(({ role }) => role === "user")
  const results = messages.slice(at).filter(({ role }) => role === "tool")
  return { input: Message.text(messages[at] ?? user("")), results: results.map(Message.text) }
}

async function* eventsOf(chunks: AsyncIterable<Chunk>): AsyncGenerator<AdapterEvent, void> {
  const message = { role: "assistant", content: "" } as const
  yield { type: "message_started", message }
  for await (const chunk of chunks) {
    if (chunk.type === "text") yield { type: "text_delta", id: null, delta: chunk.text }
    else if (chunk.type === "call") {
      const { id: callId, name, json } = chunk
      yield { type: "tool_call_started", id: callId, name }
      const parsed = ToolCall.parseArguments(json)
      yield { type: "tool_call_completed", id: callId, name, arguments: parsed, rawArguments: json }
    } else {
      yield { type: "raw_chunk", chunk: { type: "usage", usage: { totalTokens: replyTokens } } }
      yield { type: "message_completed", message, finishReason: chunk.reason }
    }
  }
}

const adapterOf = (name: string, model: Model): Adapter.Adapter => ({
  name,
  stream: (request, { signal }) => eventsOf(model.reply(askedOf(request), signal))
})

const toolOf = ({ name, schema, effect, asks, isBackground = false, run }: ProbeTool) =>
  tool({
    name,
    parameters: schema,
    effect,
    ...(isBackground ? { background: true } : {}),
    execute: (args, { toolCall, signal }) =>
      asks === undefined ? run(args, { id: toolCall.id, signal }) : askUser(asks)
  })

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

const optionsOf = ({ isFatal = false, toolTimeoutMs }: Cast, onLateResult: () => void) => ({
  ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
  ...(isFatal ? { onToolError: "halt" as const } : {}),
  onUnknownTool: "continue" as const,
  onLateResult
})

function* receive(event: Event): Generator<Received> {
  switch (event.type) {
    case "text_delta":
      return yield { type: "text", text: event.delta }
    case "tool_execution_completed":
      return yield { type: "outcome", callId: event.id, outcome: event.outcome }
    case "ask_user_requested":
      return yield { type: "question", text: event.question }
    case "step_completed": {
      const { finishReason, toolCalls } = event.response
      if (finishReason === "tool_calls") return
      for (const call of toolCalls) yield { type: "outcome", callId: call.id, outcome: "not_started" }
      return
    }
    case "chat_completed":
      return yield { type: "end", reason: event.result.haltedReason }
    case "error":
      return yield { type: "other", name: "error" }
    default:
      return
  }
}

async function* received(turn: AsyncIterable<Event>): AsyncGenerator<Received, void> {
  for await (const event of turn) yield* receive(event)
}

const endedOf = async (turn: LiveTurn): Promise<Ended> => {
  const { haltedReason, finalResponse } = await turn.result()
  return { reason: haltedReason, text: finalResponse?.outputText ?? "" }
}

const turnOf = (turn: LiveTurn): Turn => ({
  [Symbol.asyncIterator]: () => received(turn),
  ended: () => endedOf(turn)
})

/** The processes of chats below a process. */
const chatsBelow = (nodes: ReadonlyArray<Observer.Node>, isBelow = false): ReadonlyArray<Pid> =>
  nodes.flatMap(({ pid, label, children }) => [
    ...(isBelow && label.startsWith("Chat") ? [pid] : []),
    ...chatsBelow(children, isBelow || label === "SubagentSupervisor")
  ])

const start = async (cast: Cast, folder?: string): Promise<Company> => {
  const store = folder === undefined ? Store.memory() : sqlite(join(folder, "chats.db"))
  let late = 0
  const troupe = await Troupe.start({
    store,
    agents: Object.fromEntries(Object.entries(cast.roles).map(([name, role]) => [name, agentOf(cast, name, role)])),
    agent: "boss",
    ...optionsOf(cast, () => late++),
    ...(cast.unloadMs === undefined ? {} : { passivateAfterMs: cast.unloadMs }),
    maxUnproductive: 0,
    maxTurns: 50
  })
  let chat: LocalChatRef = await troupe.chat(id)
  const children = (): ReadonlyArray<Pid> => chatsBelow(Observer.tree(troupe.system))
  return {
    send: (input) => turnOf(chat.send(input)),
    retry: async () => {
      chat = await troupe.chat(id)
      return endedOf(chat.retry())
    },
    cancel: () => chat.cancel(),
    stop: () => chat.stop(),
    waiting: async () =>
      (await troupe.waiting()).waits.filter((wait) => wait.chat === id).map(({ toolCallId }) => toolCallId),
    allow: (address, result) =>
      turnOf(chat.approve(address, result === undefined ? { type: "allow" } : { type: "result", value: result })),
    kill: (which) => {
      const pid = which === "root" ? chat.pid : children()[0]
      if (pid !== undefined) Process.exit(pid, "killed")
    },
    said: async () => ((await store.load(id))?.thread.messages ?? []).map(Message.text),
    alive: () => children().length,
    lateReports: () => late,
    close: async () => {
      await troupe.stop()
      await store.close()
    }
  }
}

/** Chats as supervised processes, over SQLite. */
export const framework: Framework = {
  name: "Troupe",
  module: import.meta.url,
  leaving: "detaches",
  cannot: {},
  start
}

/** The functional API, on plain values. */
export const plainValues: Framework = {
  name: "Troupe, Chat.stream",
  leaving: "releases",
  cannot: { dies: "nothing is stored" },
  start: async (cast) => {
    let late = 0
    let thread: Thread.Thread = Thread.empty
    let running: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined
    const options = optionsOf(cast, () => late++)
    const { boss } = cast.roles
    if (boss === undefined) throw new Error("there is no agent boss")
    const engine = Engine.make({ adapter: adapterOf("boss", boss.model), tools: (boss.tools ?? []).map(toolOf) })
    async function* send(input: string): AsyncGenerator<Received, void> {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      const abort = new AbortController()
      running = { abort, ended }
      try {
        const more = Thread.append(thread, user(input))
        for await (const event of await Chat.stream(engine, more, { ...options, signal: abort.signal })) {
          if (event.type === "chat_completed") ({ thread } = event.result)
          yield* receive(event)
        }
      } finally {
        end()
      }
    }
    return {
      send,
      cancel: async () => {
        running?.abort.abort()
        await running?.ended
      },
      lateReports: () => late,
      close: async () => running?.abort.abort()
    }
  }
}
