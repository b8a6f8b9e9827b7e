/**
 * The chat of the demo with its system, file server and tools.
 *
 * **Owns** the system and everything in it. Does not own the display.
 *
 * - DEMO1. Without its file server the chat still runs, without files.
 * - DEMO2. After `stop` nothing runs that was started here, including the file server's own process.
 * - DEMO3. A refused turn fails when it is read, like one that dies; starting it never throws.
 * - DEMO4. A killed chat is restarted, even when its supervisor has given up and was restarted without it.
 *
 * @module
 */
import { type LocalChatRef, Troupe } from "@troupe/chat"
import { SessionError, ValidationError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import type { Adapter } from "@troupe/chat/models"
import { Observer, type Pid, Process, System } from "@troupe/otp"
import { agents, type Progress, team, tools as own } from "@troupe/scripted"
import { argumentText, type LiveCall } from "../output/index.ts"
import { startFileServer } from "./fileServer.ts"

/** The options of the chat. */
export interface DemoChatOptions {
  readonly adapter: Adapter.Adapter
  /** The folder that the tools may access. Without one no file server is started. */
  readonly folder: string | undefined
  /** Called with a line for each problem that does not end the chat. */
  readonly onNotice: (text: string) => void
  /** Called with every progress report of a long-running tool, by the tool's name. */
  readonly onProgress?: ((toolName: string, progress: Progress) => void) | undefined
}

/** The result of killing a chat. */
interface Restarted {
  /** Absent when there was no process to kill. */
  readonly before: string | undefined
  /** Absent when it was not restarted in time. */
  readonly after: string | undefined
  /** The number of messages in its thread. */
  readonly messages: number
}

/** A live chat with its system. */
export interface DemoChat {
  readonly hasFiles: boolean
  readonly send: (text: string) => AsyncIterable<Event>
  /** Runs the last question again, from the last completed step. */
  readonly retry: () => AsyncIterable<Event>
  /** Cancels the running turn, if there is one. */
  readonly cancel: () => Promise<void>
  /** Kills the chat's process, and waits for its restart. */
  readonly kill: () => Promise<Restarted>
  /** The supervision tree as text. */
  readonly tree: () => string
  readonly messages: () => ReadonlyArray<Message.Message>
  /** Whether a tool's question waits for an answer. */
  readonly waitsForAnswer: () => boolean
  /** The question about a call that waits for a decision. */
  readonly decision: () => string | undefined
  /** The calls that are not over. */
  readonly liveCalls: () => ReadonlyArray<LiveCall>
  /** How long a call of the running step has been running, in milliseconds. */
  readonly elapsedMs: (toolCallId: string) => number | undefined
  readonly stop: () => Promise<void>
}

/** Deadline of one tool call in milliseconds, unless the tool has its own. */
const toolTimeoutMs = 30_000

/** How long `kill` waits for the restart of the chat. */
const restartMs = 3_000

const instructions = (folder: string | undefined): string =>
  `You answer in a terminal, shortly and in plain text. Your tools reach ${folder === undefined ? "no files" : `the files of ${folder}`}; call several at once when that helps, and ask when a request can be understood in more than one way.`

/** Starts the system, the file server and the chat. */
export const startDemoChat = async ({ adapter, folder, onNotice, onProgress }: DemoChatOptions): Promise<DemoChat> => {
  const system = System.make({ name: "demo", onCrash: (report) => onNotice(`crash: ${report.message.split("\n")[0]}`) })
  const files = folder === undefined ? undefined : await startFileServer(system, folder)
  if (files?.started === false) onNotice(`no files: ${files.reason}`)
  const tools = [...(files?.started === true ? files.tools : []), ...own, ...team]
  const timeouts = new Map(tools.map((tool) => [tool.name, tool.timeoutMs ?? toolTimeoutMs]))
  const troupe = await Troupe.start({
    adapter,
    tools,
    agents,
    permissions: { mode: "acceptEdits", ask: () => "suspend" },
    system,
    toolTimeoutMs,
    instructions: instructions(folder)
  })
  const chat = await troupe.chat("demo")

  const context = () => chat.getSnapshot()?.context
  const reported = new Map<string, unknown>()
  chat.subscribe(({ context: { toolCalls } }) => {
    for (const { id, name, progress } of toolCalls) {
      if (progress !== undefined && progress !== reported.get(id)) onProgress?.(name, progress as Progress)
      reported.set(id, progress)
    }
    if (toolCalls.length === 0) reported.clear()
  })
  void reportAgents(chat, onNotice)
  const elapsed = (startedAt: number | undefined): number =>
    startedAt === undefined ? 0 : system.clock.now() - startedAt

  /** The first call that waits for a person. */
  const asked = () => context()?.pendingApprovals[0]

  /** Answers the question of a sub-agent, decides about a call, or says something. */
  const said = (text: string): AsyncIterable<Event> => {
    const wait = asked()
    if (wait === undefined) return chat.send(text)
    if (wait.kind === "question") return chat.approve(wait.toolCall.id, { type: "result", value: text })
    const isAllowed = /^(?:y|yes|ok|allow)\b/i.test(text)
    return chat.approve(wait.toolCall.id, isAllowed ? { type: "allow" } : { type: "deny", reason: text })
  }

  /** Waits for the chat's process (DEMO4); `undefined` when there is none in time, or when the Troupe has ended. */
  const revived = async (): Promise<Pid | undefined> => {
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const deadline = setTimeout(resolve, restartMs, undefined)
    try {
      return await Promise.race([troupe.chat(chat.id).then(({ pid }) => pid), late])
    } catch (error) {
      if (!(error instanceof SessionError)) throw error
      return undefined
    } finally {
      clearTimeout(deadline)
    }
  }

  return {
    hasFiles: files?.started === true,
    send: (text) => readable(() => said(text)),
    retry: () => readable(() => chat.retry()),
    cancel: () => chat.cancel(),
    kill: async () => {
      const pid = chat.pid
      if (pid === undefined) return { before: undefined, after: undefined, messages: chat.thread.messages.length }
      Process.kill(pid)
      const after = await revived()
      return {
        before: String(pid),
        after: after === undefined ? undefined : String(after),
        messages: chat.thread.messages.length
      }
    },
    tree: () => Observer.format(Observer.tree(system)),
    messages: () => chat.thread.messages,
    waitsForAnswer: () => context()?.pendingQuestion !== undefined || asked() !== undefined,
    decision: () => {
      const wait = asked()
      if (wait === undefined || wait.kind === "question") return undefined
      return `May ${wait.toolCall.name}${argumentText(wait.toolCall.arguments)} run? Answer yes, or say why not.`
    },
    liveCalls: () =>
      (context()?.toolCalls ?? []).flatMap(
        ({ id, name, status, startedAt, progress, child }): ReadonlyArray<LiveCall> =>
          status === "done"
            ? []
            : [
                {
                  id,
                  name,
                  status,
                  elapsedMs: elapsed(startedAt),
                  timeoutMs: timeouts.get(name),
                  progress: progress as Progress | undefined,
                  child: child && { agent: child.agent, text: child.text }
                }
              ]
      ),
    elapsedMs: (toolCallId) => {
      const call = context()?.toolCalls.find(({ id }) => id === toolCallId)
      return call?.startedAt === undefined ? undefined : elapsed(call.startedAt)
    },
    stop: async () => {
      await troupe.stop()
      await System.stop(system)
    }
  }
}

/** Reports the messages, the questions and the results of agents in the background, until the chat ends. */
const reportAgents = async (chat: LocalChatRef, report: (text: string) => void): Promise<void> => {
  const asked = new Set<string>()
  const leave = chat.subscribe(({ context: { pendingApprovals } }) => {
    for (const { task, toolCall, agent, reason } of pendingApprovals) {
      if (task === undefined || asked.has(toolCall.id)) continue
      asked.add(toolCall.id)
      report(`${agent ?? "an agent"} asks: ${reason}`)
    }
  })
  try {
    for await (const item of chat.attach()) {
      if (item.type !== "event" || item.event.type !== "chat_completed") continue
      const { thread, finalResponse } = item.event.result
      const input = thread.messages.findLast(({ role }) => role === "user")
      const isOfAgent = input?.metadata?.["from"] ?? input?.metadata?.["task"]
      if (isOfAgent !== undefined && finalResponse !== undefined) report(finalResponse.outputText)
    }
  } finally {
    leave.unsubscribe()
  }
}

/** Starts a turn, or returns one that fails with the error of its refusal (DEMO3). */
const readable = (start: () => AsyncIterable<Event>): AsyncIterable<Event> => {
  try {
    return start()
  } catch (error) {
    if (!(error instanceof SessionError || error instanceof ValidationError)) throw error
    return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }
  }
}
