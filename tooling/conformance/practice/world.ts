/**
 * One chat in a Troupe of its own, its models, its server and its readers, and what was seen of them.
 *
 * Owns: the Troupe, the models, the server's handler. `close` ends them, and counts what is still open.
 *
 * @module
 */
import { setImmediate as nextTurn, setTimeout as after } from "node:timers/promises"
import { type LocalChatRef, type RunningTroupe, Troupe, type TroupeOptions } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import type { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import type { Permissions } from "@troupe/chat/tools"
import { aiSdk } from "@troupe/providers/AiSdk"
import { Server } from "@troupe/server"
import { type Fields, fieldsOf, textOf } from "../runner/fields.ts"
import type { Model } from "./models.ts"
import { Page } from "./page.ts"
import { calledIn, hooksOf, type Run, threadOf, toolOf } from "./script.ts"
import { UnknownWords } from "./words.ts"

export const chatId = "practice"

/** How long a turn may take, and how long one that cannot end is watched, in milliseconds. */
const patienceMs = 5_000
const watchMs = 1_000

/** The models of a world: the chat's, and those of its sub-agents. */
export interface Models {
  readonly main: Model
  readonly children: Readonly<Record<string, Model>>
}

/** A chat, and everything that was seen of it. */
export class World {
  readonly input: Fields
  readonly models: Models
  readonly runs: Array<Run> = []
  readonly events: Array<Event> = []
  readonly errors: Array<unknown> = []
  /** The texts that were sent, by their names in the steps. */
  readonly said = new Map<string, string>()
  /** The texts of the answers to posts. */
  readonly answers: Array<string> = []
  /** The states of a machine. */
  readonly states: Array<unknown> = []
  readonly rejections: Array<unknown> = []
  /** Whether the model or the provider keeps the turn waiting for good. */
  readonly isEndless: boolean
  readonly #store = Store.memory()
  #troupe: RunningTroupe | undefined
  #chat: LocalChatRef | undefined
  #server: Server.Server | undefined
  #page: Page | undefined

  constructor(input: Fields, models: Models) {
    this.input = input
    this.models = models
    this.isEndless = /HANG|\bhangs?\b|retry-after/i.test(JSON.stringify(input))
    process.on("unhandledRejection", this.#onRejection)
  }

  readonly #onRejection = (reason: unknown): void => void this.rejections.push(reason)

  /** Starts the program, or another one with the same store. */
  async start(): Promise<void> {
    await this.#troupe?.stop()
    const troupe = await Troupe.start(this.#options())
    const words = this.input["thread"]
    const isNew = words !== undefined && !(await troupe.has(chatId))
    this.#troupe = troupe
    this.#chat = isNew ? await troupe.begin([...threadOf(words)], { id: chatId }) : await troupe.chat(chatId)
    this.#server = Server.make({
      troupe,
      authorize: () => ({ owner: "anna", may: { approve: true } }),
      chatId: (_owner, id) => id
    })
    void this.#read(this.#chat)
  }

  #options(): TroupeOptions {
    const { tools, tool: single, options, retry, hooks, ask, script, parent, child } = this.input
    const described = { ...fieldsOf(tools), ...(single === undefined ? {} : { tool: single }) }
    const children = Object.keys(this.models.children)
    const called = [...calledIn(script), ...calledIn(parent), ...calledIn(child)]
    const plain = called.filter((name) => !(name in described) && !children.includes(name))
    const all = { ...Object.fromEntries(plain.map((name) => [name, `returns ${name}`])), ...described }
    const list = Object.entries(all).map(([name, words]) => toolOf(name, words, this.runs))
    const agents = children.map((name) => {
      const model = this.models.children[name]
      return [name, { adapter: model && aiSdk(model.model), tools: list }] as const
    })
    return {
      adapter: aiSdk(this.models.main.model),
      store: this.#store,
      tools: [...list, ...children.map((name) => Agents.subagent(name))],
      // A retry that waits long would be seen as one that never ends.
      retry: { baseDelayMs: 1, jitterMs: 0, ...fieldsOf(retry) },
      ...(children.length === 0 ? {} : { agents: Object.fromEntries(agents) }),
      ...(hooks === undefined ? {} : { hooks: hooksOf(hooks) }),
      ...(ask === undefined ? {} : { permissions: { ask: askOf(textOf(ask)) } }),
      ...fieldsOf(options)
    } as TroupeOptions
  }

  async #read(chat: LocalChatRef): Promise<void> {
    try {
      for await (const item of chat.attach()) if (item.type === "event") this.events.push(item.event)
    } catch {
      // The reader ends with its program.
    }
  }

  get chat(): LocalChatRef {
    if (this.#chat === undefined) throw new Error("the chat was not started")
    return this.#chat
  }

  get troupe(): RunningTroupe {
    if (this.#troupe === undefined) throw new Error("the Troupe was not started")
    return this.#troupe
  }

  /** The page of the AI SDK's client; the first use opens it, and inputs go by it from then on. */
  page(): Page {
    if (this.#server === undefined) throw new Error("the server was not started")
    this.#page ??= new Page(this.#server, chatId)
    return this.#page
  }

  get hasPage(): boolean {
    return this.#page !== undefined
  }

  /** Posts to the server, and resolves with the status and the body. */
  async post(path: string, body: unknown): Promise<{ readonly status: number; readonly text: string }> {
    if (this.#server === undefined) throw new Error("the server was not started")
    const request = new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const response = await this.#server.fetch(request)
    return { status: response.status, text: await response.text() }
  }

  /** Sends an input, and does not wait for its turn. */
  send(text: string, chat = this.chat): void {
    if (this.hasPage && chat === this.chat) {
      this.watch(this.page().sendMessage({ text }))
      return
    }
    try {
      this.watch(chat.send(text).result())
    } catch (error) {
      this.errors.push(error)
    }
  }

  /** Keeps the error of a turn. */
  watch(turn: Promise<unknown>): void {
    turn.catch((error: unknown) => this.errors.push(error))
  }

  /** Resolves when the chat rests or waits for a person; at the latest after the patience. */
  async settle(): Promise<void> {
    const limit = this.isEndless ? watchMs : patienceMs
    for (let waited = 0; waited < limit && !(await this.isAtRest()); waited += 5) await after(5)
  }

  /** Whether no turn runs, and no input waits but behind a person. */
  async isAtRest(): Promise<boolean> {
    await nextTurn()
    if (this.#page !== undefined && !["ready", "error"].includes(this.#page.status)) return false
    const { status, inbox } = await this.chat.view()
    return status !== "running" && (inbox.length === 0 || status.startsWith("awaiting"))
  }

  /** The messages of the thread. */
  get thread(): ReadonlyArray<Message.Message> {
    return this.#chat?.thread.messages ?? []
  }

  /** The results of the turns that ended. */
  get results(): ReadonlyArray<ChatResult> {
    return this.events.flatMap((event) => (event.type === "chat_completed" ? [event.result] : []))
  }

  /** Ends everything, and resolves with the number of streams, connections and handlers that are still open. */
  async close(): Promise<number> {
    await this.#chat?.cancel()
    const zombies = this.#troupe?.zombies().length ?? 0
    await this.#server?.close()
    await this.#troupe?.stop()
    const models = [this.models.main, ...Object.values(this.models.children)]
    const open = await Promise.all(models.map((model) => model.close()))
    await nextTurn()
    process.off("unhandledRejection", this.#onRejection)
    return open.reduce((sum, count) => sum + count, zombies)
  }
}

/** Who decides about calls, in words: `suspend all but free`. */
const askOf = (words: string): Permissions.Ask => {
  const [, free] = /^suspend all(?: but (.+))?$/.exec(words) ?? []
  if (!words.startsWith("suspend all")) throw new UnknownWords(`the permission “${words}”`)
  const names = (free ?? "").split(/,\s*|\s+and\s+/)
  return ({ toolCall }) => (names.includes(toolCall.name) ? "allow" : "suspend")
}
