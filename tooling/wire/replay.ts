/**
 * Replays one recording: runs a chat over the real wire, and reports it in one line.
 *
 * @module
 */
import { Chat, Engine, tool } from "@troupe/chat"
import { AdapterError } from "@troupe/chat/errors"
import { type Event, StreamCollector } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import type { Response } from "@troupe/chat/models"
import { Tool } from "@troupe/chat/tools"
import { aiSdk } from "@troupe/providers/AiSdk"
import { modelFor } from "./models.ts"
import { readRecording, type Recording } from "./recording.ts"
import { serve } from "./server.ts"

/** A failure, as data. */
interface LineError {
  readonly reason: string
  readonly message: string
  readonly status?: number
}

/**
 * The result of one recording.
 *
 * **Details**: `events` are the tags of the whole chat, in order. `text`, `parts`, `toolCalls`, `finishReason` and `usage`
 * are of the recorded reply; `parts` are the types of its parts; `finalText` is the chat's last text. `openConnections` are leaked connections.
 */
export interface Line {
  readonly file: string
  readonly provider: string
  readonly events: ReadonlyArray<Event["type"]>
  readonly text: string
  readonly parts: ReadonlyArray<string>
  readonly toolCalls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly arguments: unknown }>
  readonly finishReason: string | null
  readonly usage: Response["usage"]
  readonly error: LineError | null
  readonly finalText: string
  readonly openConnections: number
}

/** Replays a file. Never rejects: the line contains the failure. */
export const replay = async (path: string, file: string): Promise<Line> => {
  try {
    const recording = readRecording(path)
    const server = await serve(recording)
    const reported = await converse(recording, server.url).catch((error: unknown) => ({
      ...nothing,
      error: lineError(error)
    }))
    return { file, provider: recording.provider, ...reported, openConnections: await server.stop() }
  } catch (error) {
    return { file, provider: file.split("--")[0] ?? "unknown", ...nothing, error: lineError(error), openConnections: 0 }
  }
}

type Reported = Omit<Line, "file" | "provider" | "openConnections">

const nothing: Reported = {
  events: [],
  text: "",
  parts: [],
  toolCalls: [],
  finishReason: null,
  usage: {},
  error: null,
  finalText: ""
}

const converse = async (recording: Recording, url: string): Promise<Reported> => {
  const called = recording.toolNames.filter((name) => Tool.nameProblem(name) === undefined)
  const names = called.length === 0 ? ["noop"] : called
  const tools = names.map((name) => tool({ name, description: "Answers ok", execute: () => "ok" }))
  const engine = Engine.make({ adapter: aiSdk(modelFor(recording, { baseURL: url })), tools })
  const events: Array<Event["type"]> = []
  const reply = new StreamCollector()
  let recorded: Response | undefined
  let finalText = ""
  let error: unknown
  try {
    for await (const event of await Chat.stream(engine, [Message.user("Go on.")], {
      maxTurns: 2,
      onUnknownTool: "continue"
    })) {
      events.push(event.type)
      if (recorded === undefined) reply.apply(event)
      if (event.type === "step_completed") recorded ??= event.response
      if (event.type === "error") error ??= event.error
      if (event.type !== "chat_completed") continue
      const last = event.result.thread.messages.at(-1)
      finalText = last?.role === "assistant" ? Message.text(last) : ""
      error ??= event.result.metadata["error"]
    }
  } catch (thrown) {
    error ??= thrown
  }
  const { outputText, message, toolCalls, finishReason, usage } = recorded ?? reply.toResponse()
  const said = {
    ...Message.assistant(outputText, toolCalls),
    ...(message === undefined ? {} : { parts: message.parts })
  }
  return {
    events,
    text: outputText,
    parts: Message.parts(said).map(({ type }) => type),
    toolCalls: toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    finishReason: error !== undefined && recorded === undefined ? "error" : finishReason,
    usage,
    error: error === undefined ? null : lineError(error),
    finalText
  }
}

const lineError = (error: unknown): LineError => {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof AdapterError)) return { reason: error instanceof Error ? error.name : "unknown", message }
  return { reason: error.reason, message, ...(error.status === undefined ? {} : { status: error.status }) }
}
