/**
 * One chat in a Troupe of its own, its models, its server and a page, and what was seen of them.
 *
 * Owns: the Troupe, the models and the server's handler. `close` ends them, and counts what is still open.
 *
 * @module
 */
import { setImmediate as nextTurn, setTimeout as after } from "node:timers/promises"
import { type LocalChatRef, type RunningTroupe, Troupe, type TroupeOptions } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { aiSdk } from "@troupe/providers/AiSdk"
import { Server } from "@troupe/server"
import { type Fields, fieldsOf } from "../runner/fields.ts"
import type { Model } from "./models.ts"
import { Page } from "./page.ts"
import { askOf, calledIn, hooksOf, threadOf, toolOf } from "./script.ts"

/** How long a turn may take, and how long one that cannot end is watched, in milliseconds. */
const patienceMs = 5_000
const watchMs = 1_500

/** A chat, and everything that was seen of it. */
export class World {
  readonly input: Fields
  readonly runs: Array<{ readonly tool: string; readonly args: unknown }> = []
  readonly events: Array<Event> = []
  readonly errors: Array<unknown> = []
  readonly rejections: Array<unknown> = []
  /** The texts that were sent, by their names in the steps. */
  readonly said = new Map<string, string>()
  /** The answers to posts: status and body. */
  readonly answers: Array<string> = []
  /** Whether the model keeps the turn waiting. */
  readonly isEndless: boolean
  readonly #main: Model
  readonly #child: Model | undefined
  readonly #store = Store.memory()
  #parts: { readonly troupe: RunningTroupe; readonly chat: LocalChatRef; readonly server: Server.Server } | undefined
  #page: Page | undefined

  constructor(input: Fields, main: Model, child: Model | undefined) {
    this.input = input
    this.#main = main
    this.#child = child
    this.isEndless = /HANG|"hangs?"|, hangs?|retry-after/.test(JSON.stringify(input))
    process.on("unhandledRejection", this.#onRejection)
  }

  readonly #onRejection = (reason: unknown): void => void this.rejections.push(reason)

  /** Starts the program, or another one with the same store. */
  async start(): Promise<void> {
    await this.#parts?.troupe.stop()
    const troupe = await Troupe.start(this.#options())
    const { thread } = this.input
    const isNew = thread !== undefined && !(await troupe.has("c"))
    const chat = isNew ? await troupe.begin([...threadOf(thread)], { id: "c" }) : await troupe.chat("c")
    const authorize = () => ({ owner: "anna", may: { approve: true } })
    this.#parts = { troupe, chat, server: Server.make({ troupe, authorize, chatId: (_, id) => id }) }
    void this.#read(chat)
  }

  #options(): TroupeOptions {
    const { tools, tool, options, retry, hooks, ask, script, parent, child } = this.input
    const called = calledIn(script, parent, child).filter((name) => this.#child === undefined || name !== "child")
    const usual = Object.fromEntries(called.map((name) => [name, `returns ${name}`]))
    const described = { ...usual, ...fieldsOf(tools), ...(tool === undefined ? {} : { tool }) }
    const list = Object.entries(described).map(([name, words]) =>
      toolOf(name, words, (args) => void this.runs.push({ tool: name, args }))
    )
    const agents = { child: { adapter: this.#child && aiSdk(this.#child.model), tools: list } }
    return {
      adapter: aiSdk(this.#main.model),
      store: this.#store,
      retry: { baseDelayMs: 1, jitterMs: 0, ...fieldsOf(retry) },
      ...(this.#child === undefined ? { tools: list } : { tools: [...list, Agents.subagent("child")], agents }),
      ...(hooks === undefined ? {} : { hooks: hooksOf(hooks) }),
      ...(ask === undefined ? {} : { permissions: { ask: askPerson(ask) } }),
      ...fieldsOf(options)
    } as TroupeOptions
  }

  /** Reads the events until the program ends. */
  async #read(chat: LocalChatRef): Promise<void> {
    const reader = chat.attach()
    for (let item = await reader.next(); item.done !== true; item = await reader.next()) {
      if (item.value.type === "event") this.events.push(item.value.event)
    }
  }

  get #started() {
    if (this.#parts === undefined) throw new Error("the program was not started")
    return this.#parts
  }

  get chat(): LocalChatRef {
    return this.#started.chat
  }

  /** The page of the AI SDK's client. From its first use on, inputs are sent by it. */
  get page(): Page {
    this.#page ??= new Page(this.#started.server, "c")
    return this.#page
  }

  /** Posts to the server, and keeps the answer. */
  async post(path: string, body: unknown): Promise<void> {
    const headers = { "content-type": "application/json" }
    const request = new Request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    const response = await this.#started.server.fetch(request)
    this.answers.push(`${response.status} ${await response.text()}`)
  }

  /** Sends an input, and does not wait for its turn. */
  send(text: string): void {
    this.watch(() => (this.#page === undefined ? this.chat.send(text).result() : this.#page.sendMessage({ text })))
  }

  /** Keeps the error of a turn. */
  watch(begin: () => Promise<unknown>): void {
    void (async () => begin())().catch((error: unknown) => this.errors.push(error))
  }

  /** Resolves when the chat rests or waits for a person; at the latest after the patience. */
  async settle(): Promise<void> {
    const limit = this.isEndless ? watchMs : patienceMs
    for (let waited = 0; waited < limit && !(await this.isAtRest()); waited += 5) await after(5)
  }

  /** Whether no turn runs, and inputs wait for nothing but a person. */
  async isAtRest(): Promise<boolean> {
    await nextTurn()
    const { status, inbox } = await this.chat.view()
    const isRead = this.#page === undefined || /ready|error/.test(this.#page.status)
    return isRead && status !== "running" && (inbox.length === 0 || status.startsWith("awaiting"))
  }

  get thread(): ReadonlyArray<Message.Message> {
    return this.chat.thread.messages
  }

  /** The texts of the messages of a role. */
  texts(role: Message.Message["role"]): ReadonlyArray<string> {
    return this.thread.flatMap((message) => (message.role === role ? [Message.text(message)] : []))
  }

  get outcomes(): ReadonlyArray<unknown> {
    return this.thread.flatMap((message) => (message.role === "tool" ? [message.outcome] : []))
  }

  /** The bodies of the requests of the chat, as text. */
  get bodies(): ReadonlyArray<string> {
    return this.#main.bodies
  }

  get allRequests(): ReadonlyArray<unknown> {
    return [...this.#main.bodies, ...(this.#child?.bodies ?? [])].map((body): unknown => JSON.parse(body))
  }

  /** The results of the turns that ended. */
  get results(): ReadonlyArray<ChatResult> {
    return this.events.flatMap((event) => (event.type === "chat_completed" ? [event.result] : []))
  }

  /** Ends everything, and resolves with the number of streams, connections and handlers that are left open. */
  async close(): Promise<number> {
    await this.#parts?.chat.cancel()
    const zombies = this.#parts?.troupe.zombies().length ?? 0
    await this.#parts?.server.close()
    await this.#parts?.troupe.stop()
    const open = (await this.#main.close()) + ((await this.#child?.close()) ?? 0)
    await nextTurn()
    process.off("unhandledRejection", this.#onRejection)
    return open + zombies
  }
}

const askPerson = (words: unknown) => {
  const answer = askOf(words)
  return ({ toolCall }: { readonly toolCall: { readonly name: string } }) => answer(toolCall.name)
}
