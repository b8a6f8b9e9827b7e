/** Troupe's two APIs as frameworks for the probes. */
import { askUser, Chat, type LocalChatRef, Engine, tool, Troupe, user } from "@troupe/chat"
import type { ChatOptions } from "@troupe/chat/chats"
import type { AdapterEvent, Event } from "@troupe/chat/events"
import { Thread, ToolCall } from "@troupe/chat/messages"
import type { Adapter } from "@troupe/chat/models"
import { Codec, type Store } from "@troupe/chat/store"
import type { Tool } from "@troupe/chat/tools"
import type { Framework, Received, ProbeTool, Restarted, Setup } from "./framework.ts"
import type { Chunk, ScriptedModel } from "./scriptedModel.ts"

const adapterOf = (model: ScriptedModel): Adapter.Adapter => ({ name: "scripted", stream: () => events(model.reply()) })

/** The events of a reply. */
export async function* events(chunks: AsyncGenerator<Chunk, void>): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for await (const chunk of chunks) {
    if (chunk.type === "text") yield { type: "text_delta", id: null, delta: chunk.text }
    else if (chunk.type === "call") yield* called(chunk)
    else yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: chunk.reason }
  }
}

function* called({ id, name, json }: Extract<Chunk, { type: "call" }>): Generator<AdapterEvent> {
  yield { type: "tool_call_started", id, name }
  yield { type: "tool_call_completed", id, name, arguments: ToolCall.parseArguments(json), rawArguments: json }
}

const toolOf = ({ name, schema, effect, asks, run }: ProbeTool): Tool.Tool =>
  tool({
    name,
    parameters: schema,
    effect,
    execute: (args, { toolCall, signal }) =>
      asks === undefined ? run(args, { id: toolCall.id, signal }) : askUser(asks)
  })

const optionsOf = ({ fatal, toolTimeoutMs }: Setup, reported: () => void): ChatOptions => ({
  ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs }),
  ...(fatal === true ? { onToolError: "halt" as const } : {}),
  onUnknownTool: "continue",
  onLateResult: reported
})

async function* received(turn: AsyncIterable<Event>): AsyncGenerator<Received, void> {
  for await (const event of turn) yield* receive(event)
}

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
      for (const { id } of toolCalls) yield { type: "outcome", callId: id, outcome: "not_started" }
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

/** Chats as supervised processes. */
export const livingChats: Framework = {
  name: "Troupe, living chats",
  leaving: "detaches",
  durable: true,
  start: (setup) => living(setup, new Map(), { late: 0 })
}

const living = async (setup: Setup, texts: Map<string, string>, reports: { late: number }): Promise<Restarted> => {
  const store: Store.Store = {
    load: (id) => {
      const kept = texts.get(id)
      return kept === undefined ? undefined : Codec.decode("ChatRecord", kept)
    },
    save: (record) => void texts.set(record.id, Codec.encode("ChatRecord", record)),
    delete: (id) => void texts.delete(id)
  }
  const troupe = await Troupe.start({
    adapter: adapterOf(setup.model),
    tools: setup.tools.map(toolOf),
    store,
    ...optionsOf(setup, () => reports.late++)
  })
  const chat: LocalChatRef = await troupe.chat("probe")
  return {
    send: (said) => received(chat.send(said)),
    cancel: () => chat.cancel(),
    lateReports: () => reports.late,
    restart: () => living(setup, new Map(texts), reports),
    unknown: () => chat.getSnapshot()?.context.pendingApprovals.map(({ toolCall }) => toolCall.id) ?? [],
    decide: (callId, value) => received(chat.approve(callId, { type: "result", value })),
    close: () => troupe.stop()
  }
}

/** The functional API, on plain values. */
export const plainValues: Framework = {
  name: "Troupe, Chat.stream",
  leaving: "releases",
  durable: false,
  start: async (setup) => {
    let late = 0
    let thread: Thread.Thread = Thread.empty
    let running: { readonly abort: AbortController; readonly ended: Promise<void> } | undefined
    const engine = Engine.make({ adapter: adapterOf(setup.model), tools: setup.tools.map(toolOf) })
    const options = optionsOf(setup, () => late++)
    async function* send(said: string): AsyncGenerator<Received, void> {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      const abort = new AbortController()
      running = { abort, ended }
      try {
        const stream = await Chat.stream(engine, Thread.append(thread, user(said)), {
          ...options,
          signal: abort.signal
        })
        for await (const event of stream) {
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
