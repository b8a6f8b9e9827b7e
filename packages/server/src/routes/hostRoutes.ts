/** The routes of `forNodes`: what a program does with its chats, and clients do not. */
import type { ChatRef, LocalChatRef } from "@troupe/chat"
import { SessionError } from "@troupe/chat/errors"
import { Codec } from "@troupe/chat/store"
import { Decision, Permissions } from "@troupe/chat/tools"
import type { Message } from "@troupe/chat/messages"
import { ExitReason, type Pid, Process, type System } from "@troupe/otp"
import * as z from "zod"
import { type Begins, events, frame, json, lastFrame, turnReply, handled, paramOf, verbOf } from "./responses.ts"
import type { Call, Route } from "../http/index.ts"

const Said = z.strictObject({
  message: z.unknown(),
  schema: z.record(z.string(), z.unknown()).optional(),
  whenBusy: z.enum(["queue", "steer", "interrupt", "reject"]).optional(),
  id: z.string(),
  model: z.string().optional(),
  agent: z.string().optional()
})
const Answers = z.strictObject({
  decisions: z.record(z.string(), Decision).optional(),
  results: z.record(z.string(), z.unknown()).optional(),
  message: z.unknown().optional(),
  id: z.string()
})
const Begin = z.strictObject({ messages: z.array(z.unknown()), agent: z.string().optional() })
const Start = z.strictObject({ agent: z.string().optional() })
const Mode = z.strictObject({
  mode: Permissions.Mode,
  within: z.union([Permissions.Mode, z.literal("host")]).optional()
})
const Nothing = z.strictObject({})

const messageOf = (data: unknown): Message.Message => Codec.fromJson("Message", data)

/** The chat; a new one is of this agent, and another keeps its own. */
const startedBy = async (call: Call, agent: string | undefined): Promise<LocalChatRef> => {
  try {
    return await call.chats.chat(paramOf(call, "id"), agent)
  } catch (error) {
    if (error instanceof SessionError && error.reason === "other_agent") return call.chats.chat(paramOf(call, "id"))
    throw error
  }
}

/** Starts the chat. */
const start = handled({
  body: Start,
  run: async (call, { agent }): Promise<void> => {
    await startedBy(call, agent)
  }
})

const send = handled({
  body: Said,
  run: async (call, { message, agent, ...options }): Promise<Begins> => {
    const said = messageOf(message)
    const chat = await startedBy(call, agent)
    return { chat, begin: () => chat.send(said as Parameters<ChatRef["send"]>[0], options) }
  },
  shows: turnReply
})

const answer = handled({
  body: Answers,
  run: async (call, { message, id, ...answers }): Promise<Begins> => {
    const input = message === undefined ? undefined : (messageOf(message) as Parameters<ChatRef["send"]>[0])
    const chat = await startedBy(call, undefined)
    return { chat, begin: () => chat.answer({ ...answers, input }, { id }) }
  },
  shows: turnReply
})

const begin = handled({
  body: Begin,
  run: async (call, { messages, agent }): Promise<void> => {
    const thread = messages.map(messageOf)
    await call.chats.begun(paramOf(call, "id"), (id) => call.troupe.begin(thread, { id, agent }))
  },
  shows: () => Response.json({ ok: true }, { status: 201 })
})

/** The chat of the path, started for a verb. */
const chatOf = (call: Call): Promise<LocalChatRef> => call.chats.chat(paramOf(call, "id"))

const verb = verbOf(chatOf)

/** Runs the waiting inputs, and answers with the id and the message of each turn, by which the turn can be followed. */
const resume = handled({
  body: Nothing,
  run: async (call) => (await chatOf(call)).resume(),
  shows: (turns) => ({
    turns: turns.flatMap(({ id, turn }) => {
      const [message] = turn.messages
      return message === undefined ? [] : [{ id, message: Codec.toJson("Message", message).data }]
    })
  })
})

/** One frame when the monitor is set, and one when the chat's process has ended. */
const monitor = async (call: Call): Promise<Response> => {
  const isAlive = call.troupe.isAlive(call.chats.innerId(paramOf(call, "id")))
  const pid = isAlive ? (await chatOf(call)).pid : undefined
  async function* frames(signal: AbortSignal): AsyncGenerator<string, void> {
    yield frame(JSON.stringify({ type: "monitoring" }))
    const reason = pid === undefined ? "noproc" : await endOf(call.troupe.system, pid, signal)
    if (!signal.aborted) yield frame(JSON.stringify({ type: "down", reason: ExitReason.format(reason) }))
  }
  return call.stream(frames, { last: lastFrame })
}

/** Resolves with the exit reason of a process, or when the signal is aborted. */
const endOf = (system: System.System, pid: Pid, signal: AbortSignal): Promise<ExitReason.ExitReason> =>
  new Promise((resolve) => {
    const watcher = Process.spawn(system, async (self) => {
      Process.monitor(self, pid)
      const down = await Process.receive(self)
      resolve(typeof down === "object" && down !== null && "reason" in down ? down.reason : "noproc")
    })
    const leave = (): void => {
      Process.exit(watcher, "kill")
      resolve(undefined)
    }
    if (signal.aborted) leave()
    else signal.addEventListener("abort", leave, { once: true })
  })

const post = (path: string, handle: Route["handle"], ...more: ReadonlyArray<string>): Route => ({
  method: "POST",
  path: `/host/:id/${path}`,
  handle,
  produces: [json, ...more]
})

export const hostRoutes: ReadonlyArray<Route> = [
  post("messages", send, events),
  post("answer", answer, events),
  post("begin", begin),
  post("start", start),
  post("resume", resume),
  post(
    "mode",
    verb(Mode, (chat, { mode, within }) => chat.setPermissionMode(mode, { within }))
  ),
  post(
    "cancel-calls",
    verb(Nothing, (chat) => chat.cancelToolCalls())
  ),
  post(
    "stop",
    verb(Nothing, (chat) => chat.stop())
  ),
  { method: "GET", path: "/host/:id/monitor", handle: monitor, produces: [events], isEndless: true }
]
