/**
 * The chat of the demo and everything it stands on: the system, the file server, the tools.
 *
 * **Owns** the system and whatever runs in it. Does not own what is shown.
 *
 * - DEMO1. Without its file server the chat goes on, without files.
 * - DEMO2. After `stop` nothing runs that was started here, the file server's own process included.
 * - DEMO3. A turn that is refused fails when it is read, as one that dies does; starting it never throws.
 * - DEMO4. A killed chat comes back, also when its supervisor has given up and was started again without it.
 *
 * @module
 */
import { SessionError, Troupe, ValidationError } from "@troupe/chat"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import type { Adapter } from "@troupe/chat/models"
import { Observer, type Pid, Process, System } from "@troupe/otp"
import { makeProgressBoard, makeTools, type Progress, startFileServer } from "../tools/index.ts"
import type { LiveCall } from "../output/index.ts"

/** What the chat is started with. */
export interface DemoChatOptions {
  readonly adapter: Adapter.Adapter
  /** The folder whose files the tools may touch. */
  readonly folder: string
  /** Told what went wrong without ending the chat, in one line. */
  readonly onNotice: (text: string) => void
  /** Told of every report of a long-running tool, by the tool's name. */
  readonly onProgress?: ((toolName: string, progress: Progress) => void) | undefined
}

/** How a killed chat came back. */
interface Restarted {
  /** Absent when there was no process to kill. */
  readonly before: string | undefined
  /** Absent when it did not come back in time. */
  readonly after: string | undefined
  /** How many messages its thread holds. */
  readonly messages: number
}

/** A living chat with its system. */
export interface DemoChat {
  readonly hasFiles: boolean
  readonly send: (text: string) => AsyncIterable<Event.Event>
  /** Runs the last question again, from the last completed step. */
  readonly retry: () => AsyncIterable<Event.Event>
  /** Cancels the running turn, if there is one. */
  readonly cancel: () => Promise<void>
  /** Kills the chat's process, and waits until it is there again. */
  readonly kill: () => Promise<Restarted>
  /** The supervision tree, drawn. */
  readonly tree: () => string
  readonly messages: () => ReadonlyArray<Message.Message>
  /** Whether a tool asked a question that nobody answered yet. */
  readonly waitsForAnswer: () => boolean
  /** The calls that are not over. */
  readonly liveCalls: () => ReadonlyArray<LiveCall>
  /** How long a call of the running step has been running, in milliseconds. */
  readonly elapsedMs: (toolCallId: string) => number | undefined
  readonly stop: () => Promise<void>
}

/** Deadline of one tool call in milliseconds, unless the tool has its own. */
const toolTimeoutMs = 30_000

/** How long `kill` waits for the chat to come back. */
const restartMs = 3_000

const instructions = (folder: string): string =>
  `You answer in a terminal, shortly and in plain text. Your tools reach the files of ${folder}; call several at once when that helps, and ask when a request can be understood in more than one way.`

/** Starts the system, the file server and the chat. */
export const startDemoChat = async ({ adapter, folder, onNotice, onProgress }: DemoChatOptions): Promise<DemoChat> => {
  const system = System.make({ name: "demo", onCrash: (report) => onNotice(`crash: ${report.message.split("\n")[0]}`) })
  const progress = makeProgressBoard((call, report) => onProgress?.(call.name, report))
  const files = await startFileServer(system, folder)
  if (!files.started) onNotice(`no files: ${files.reason}`)
  const tools = [...(files.started ? files.tools : []), ...makeTools({ progress })]
  const timeouts = new Map(tools.map((tool) => [tool.name, tool.timeoutMs ?? toolTimeoutMs]))
  const troupe = await Troupe.start({ adapter, tools, system, toolTimeoutMs, instructions: instructions(folder) })
  const chat = await troupe.chat("demo")

  const context = () => chat.getSnapshot()?.context
  const elapsed = (startedAt: number | undefined): number =>
    startedAt === undefined ? 0 : system.clock.now() - startedAt

  /** The chat's process, waited for (DEMO4); `undefined` when there is none in time, or the Troupe has ended. */
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
    hasFiles: files.started,
    send: (text) => readable(() => chat.send(text)),
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
    waitsForAnswer: () => context()?.pendingQuestion !== undefined,
    liveCalls: () =>
      (context()?.toolCalls ?? []).flatMap(({ id, name, status, startedAt }): ReadonlyArray<LiveCall> =>
        status === "done"
          ? []
          : [
              {
                id,
                name,
                status,
                elapsedMs: elapsed(startedAt),
                timeoutMs: timeouts.get(name),
                progress: progress.of(id)
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

/** The turn that is started, or one that fails with the error it was refused with (DEMO3). */
const readable = (start: () => AsyncIterable<Event.Event>): AsyncIterable<Event.Event> => {
  try {
    return start()
  } catch (error) {
    if (!(error instanceof SessionError || error instanceof ValidationError)) throw error
    return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) }
  }
}
