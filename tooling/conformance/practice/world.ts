/**
 * One chat in a Troupe of its own, its models, its server and a page, and what was seen of them.
 *
 * Owns: the Troupe, the models and the server's handler. `close` ends them, and counts what is still open.
 *
 * @module
 */
import { setImmediate as nextTurn, setTimeout as after } from "node:timers/promises"
import { type LocalChatRef, type RunningTroupe, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import type { Event } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { aiSdk } from "@troupe/providers/AiSdk"
import { Server } from "@troupe/server"
import { type Fields, fieldsOf } from "../runner/json.ts"
import type { Model } from "./models.ts"
import { Page } from "./page.ts"
import { gateOf, threadOf, toolsOf } from "./script.ts"

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
  readonly main: Model
  readonly child: Model | undefined
  readonly #store = Store.memory()
  #troupe!: RunningTroupe
  #server!: Server.Server
  #page: Page | undefined
  chat!: LocalChatRef

  constructor(input: Fields, main: Model, child: Model | undefined) {
    this.input = input
    this.main = main
    this.child = child
    this.isEndless = /HANG|"hangs?"|, hangs?|retry-after/.test(JSON.stringify(input))
    process.on("unhandledRejection", this.#onRejection)
  }

  readonly #onRejection = (reason: unknown): void => void this.rejections.push(reason)

  /** Starts the program, or another one with the same store. */
  async start(): Promise<void> {
    const { thread, options, retry } = this.input
    const tools = toolsOf(this.input, (tool, args) => void this.runs.push({ tool, args }))
    const agents = { child: { adapter: this.child && aiSdk(this.child.model), tools } }
    await this.#troupe?.stop()
    this.#troupe = await Troupe.start({
      adapter: aiSdk(this.main.model),
      store: this.#store,
      retry: { baseDelayMs: 1, jitterMs: 0, ...fieldsOf(retry) },
      ...(this.child === undefined ? { tools } : { tools: [...tools, Agents.subagent("child")], agents }),
      ...gateOf(this.input),
      ...fieldsOf(options)
    })
    const isNew = thread !== undefined && !(await this.#troupe.has("c"))
    this.chat = isNew ? await this.#troupe.begin([...threadOf(thread)], { id: "c" }) : await this.#troupe.chat("c")
    const authorize = () => ({ owner: "anna", may: { approve: true } })
    this.#server = Server.make({ troupe: this.#troupe, authorize, chatId: (_, id) => id })
    this.watch(async () => {
      for await (const item of this.chat.attach()) if (item.type === "event") this.events.push(item.event)
    })
  }

  /** The page of the AI SDK's client. From its first use on, inputs are sent by it. */
  get page(): Page {
    return (this.#page ??= new Page(this.#server, "c"))
  }

  /** Posts to the server, and keeps the answer. */
  async post(path: string, body: unknown): Promise<void> {
    const headers = { "content-type": "application/json" }
    const request = new Request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    const response = await this.#server.fetch(request)
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

  /** Resolves when the chat rests or waits for a person; at the latest after 20 seconds, or 3 if it cannot end. */
  async settle(): Promise<void> {
    const patienceMs = this.isEndless ? 3_000 : 20_000
    for (let waited = 0; waited < patienceMs && !(await this.isAtRest()); waited += 5) await after(5)
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

  /** The results of the turns that ended. */
  get results() {
    return this.events.flatMap((event) => (event.type === "chat_completed" ? [event.result] : []))
  }

  /** Ends everything, and resolves with the number of streams and connections that are left open. */
  async close(): Promise<number> {
    if (this.#troupe?.isAlive("c")) await this.chat?.cancel()
    await this.#server?.close()
    await this.#troupe?.stop()
    const open = (await this.main.close()) + ((await this.child?.close()) ?? 0)
    await nextTurn()
    process.off("unhandledRejection", this.#onRejection)
    return open
  }
}
