/**
 * A running Troupe: starts, finds and stops chats.
 *
 * Owns: its options and its end. Does not own the supervision tree (`SupervisionTree`), its chats (`ChatDirectory`), nor
 * the log of a conversation, which the store keeps and `Conversations` reads.
 *
 * TROUPE3. `stop` ends everything in reverse start order; nothing of the Troupe still runs afterwards.
 *
 * @module
 */
import { WaitedCalls } from "../call/index.ts"
import { Process, System } from "@troupe/otp"
import { Escalation } from "./escalation.ts"
import {
  type FoundMessage,
  type SearchOptions,
  type ChatList,
  fenceOf,
  forgetChat,
  guarded,
  type HistoryOptions,
  type ListOptions,
  takesDrafts,
  type WaitList,
  type WaitOptions
} from "../store/index.ts"
import * as Chat from "../loop/Chat.ts"
import type { ChatOptions, TurnOptions } from "../options/index.ts"
import { reviveTasks } from "../children/index.ts"
import type { Conversation } from "../record/index.ts"
import * as Engine from "../options/Engine.ts"
import { argumentChecks, askedAgent, checkId, checkOwnId, SupervisionTree } from "../live/index.ts"
import { blobsIn, checkHome, idAtHome } from "./chatLife.ts"
import { AgentTable } from "../agents/index.ts"
import { type BeginOptions, Conversations, type ForkOptions, type RewindOptions } from "./conversations.ts"
import type { EventStream } from "../events/index.ts"
import { type Inspect, inspected, printed } from "../json/index.ts"
import { keepsLiving, ChatDirectory } from "./chatDirectory.ts"
import { outsideTurn, ToolSlots } from "../async/index.ts"
import type { LocalChatRef } from "./LocalChatRef.ts"
import { preflight } from "../request/index.ts"
import type { Tool } from "../tool/index.ts"
import { Memories } from "./memories.ts"
import { troupeParts, type TroupeOptions } from "./troupeOptions.ts"
import { user } from "../model/index.ts"
import * as Store from "../store/Store.ts"
import * as Thread from "../model/Thread.ts"
import * as Zombies from "../call/Zombies.ts"

export type { TroupeOptions } from "./troupeOptions.ts"

/** Starts a Troupe. */
export const Troupe = {
  /**
   * Starts the supervision tree.
   *
   * **Errors**: rejects with an `EngineError` or `ValidationError` when the options make no usable engine.
   *
   * @example
   * ```ts
   * const troupe = await Troupe.start({ adapter, tools: [weather] })
   * const chat = await troupe.chat("conversation-42")
   * for await (const event of chat.send("What's the weather in Oslo?")) render(event)
   * await troupe.stop()
   * ```
   */
  start: async <Name extends string = string>(options: TroupeOptions<Name>): Promise<RunningTroupe<Name>> => {
    return RunningTroupe.start(options)
  }
} as const

/** The type of a started Troupe: `const troupe: Troupe = await Troupe.start(…)`. */
export type Troupe = RunningTroupe

/** A started Troupe. `Name` is the type of its agents' names. */
export class RunningTroupe<Name extends string = string> {
  /** The checks of arguments, for `@troupe/cluster`. */
  readonly checks: typeof argumentChecks = argumentChecks
  /** The system that its processes run in. */
  readonly system: System.System
  /** The memories that chats recall, by scope. */
  readonly memories: Memories
  readonly #ownsSystem: boolean
  readonly #engine: Engine.Engine
  readonly #agents: AgentTable
  readonly #chatOptions: ChatOptions
  readonly #tree: SupervisionTree
  readonly #waited = new WaitedCalls()
  readonly #living: ChatDirectory
  readonly #conversations: Conversations
  readonly #escalation: Escalation | undefined
  #stopping: Promise<void> | undefined

  /** Starts a Troupe; call `Troupe.start`. */
  static async start<Name extends string = string>(options: TroupeOptions<Name>): Promise<RunningTroupe<Name>> {
    const troupe = new RunningTroupe<Name>(options)
    await troupe.#tree.start(options)
    troupe.#escalation?.start()
    troupe.#reviveTasks(options)
    return troupe
  }

  private constructor(options: TroupeOptions) {
    const { own, engine, chat } = troupeParts(options)
    const {
      store,
      system,
      name = "troupe",
      onCrash,
      logger,
      silent,
      suspendedTtlMs,
      answer,
      maxToolCalls,
      inspect,
      memory
    } = own
    this.#engine = Engine.make(engine)
    this.#ownsSystem = system === undefined
    this.system = system ?? System.make({ name, onCrash, logger, silent })
    const { maxMistakes = 3, maxUnproductive = 3 } = chat
    const defaults = { onUnknownTool: "continue", schedule: "effects" } as const
    this.#chatOptions = { ...defaults, ...chat, maxMistakes, maxUnproductive, system: this.system }
    const shared = { engineOptions: engine, engine: this.#engine, chatOptions: this.#chatOptions }
    const agents = new AgentTable(shared, own.agents, own.agent)
    this.#agents = agents
    const first = agents.of(this.#engine.adapter === undefined ? agents.usual : undefined)
    const usual = first.fixed()
    // An input may have the schema of its second pass (TWO3).
    preflight(
      first.engine,
      anyThread,
      usual.responseFormat === undefined ? { ...usual, structuredFinalize: false } : usual
    )
    const kept = store ?? Store.memory({ clock: this.system.clock })
    const { home } = own
    checkHome(home, kept)
    const isLiving = (id: string) => this.#living.held.has(id) || this.#living.tasks.has(id)
    const guardedStore = guarded(kept, this.system, isLiving, home)
    const { maxWaitingInputs = 64, maxWaitingBytes = 2_097_152, maxWaitingFileBytes = 67_108_864 } = own
    // The default store ends with the program, so a draft in it saves something only when a chat ends before.
    const { draftEveryMs = store === undefined ? Infinity : 2_000, passivateAfterMs = 600_000 } = own
    const { maxLiveChats = Infinity, maxStartingChats = Infinity } = own
    const { maxChatFileBytes = 1_073_741_824 } = own
    const mostBlobBytes = Store.isSessionStore(kept) && kept.blobs !== undefined ? maxChatFileBytes : undefined
    this.#tree = new SupervisionTree(this.system, guardedStore)
    this.memories = new Memories(this.#tree, this.system, kept, memory)
    this.#living = new ChatDirectory({
      memories: this.memories,
      system: this.system,
      tree: this.#tree,
      agents,
      waited: this.#waited,
      toolSlots: maxToolCalls === undefined ? undefined : new ToolSlots(maxToolCalls),
      suspension: { suspendedTtlMs, answer },
      limits: { maxWaitingInputs, maxWaitingBytes, maxWaitingFileBytes },
      draftEveryMs: own.draftEveryMs !== Infinity && takesDrafts(kept) ? draftEveryMs : undefined,
      passivateAfterMs,
      maxLiveChats,
      maxStartingChats,
      maxTasks: own.maxTasks ?? 16,
      maxChainRequests: own.maxChainRequests ?? 50,
      treeBounds: {
        maxTreeChildren: own.maxTreeChildren ?? 100,
        maxTreeRequests: own.maxTreeRequests ?? 1_000,
        maxKnownAgents: own.maxKnownAgents ?? 64,
        maxAgentMessages: own.maxAgentMessages ?? 60
      },
      home,
      mostBlobBytes,
      inspect,
      released: (id) => forgetChat(guardedStore, id)
    })
    keepsLiving(this, this.#living)
    this.#escalation = this.#escalating(own)
    this.#conversations = new Conversations({
      ask: (call) => this.#tree.ask(call),
      living: (id) => this.#living.get(id)?.chat,
      between: (id, work) => this.#living.between(id, work),
      newId: () => idAtHome(home, () => System.uuid(this.system, "chats")),
      rewound: (record) => {
        this.#living.tasks.recorded(record.id, record)
        this.#waited.recorded(record.id, record)
      },
      hasChildren: !agents.isEmpty && Store.isSessionStore(kept),
      fence: (id) => fenceOf(home, id),
      livingBlobs: (id) => this.#living.get(id)?.blobs,
      blobs: (id, fence) => blobsIn({ mostBlobBytes, tree: this.#tree }, id, fence),
      agentOf: (agent = agents.usual) => (agent === undefined ? undefined : agents.ref(agent))
    })
  }

  /**
   * Returns the chat with this id: a running one, one loaded from the store, or a new one. `agent` is the agent of a new chat.
   *
   * **Units and defaults**: `agent` is that of the Troupe. A chat keeps its agent until a handoff.
   *
   * **Errors**: rejects with a `SessionError`: `troupe_stopped` after `stop`, `store_failed` when the store fails,
   * `invalid_record` when the stored value is not a chat record, `unknown_agent` when the Troupe has no agent of this name or
   * of the stored one, `other_agent` when the chat has another agent; with a `ValidationError` for an id that is not a string, or that of a sub-agent's conversation.
   */
  async chat(id: string, options: { readonly agent?: Name | undefined } = {}): Promise<LocalChatRef> {
    argumentChecks.chat(id, options)
    const name = askedAgent(options)
    return this.#living.called(id, name === undefined ? undefined : { name })
  }

  /**
   * Whether a chat with this id runs here or is in the store. Starts no process.
   *
   * **Errors**: rejects with a `SessionError` (`store_failed`, `troupe_stopped`); with a `ValidationError` for an invalid
   * id.
   */
  async has(id: string): Promise<boolean> {
    checkId(id)
    return this.#living.has(id)
  }

  /**
   * The entries of a conversation, the oldest first.
   *
   * **Errors**: rejects with a `SessionError`: `store_without_log` when the store keeps the newest record only;
   * `store_failed`; `troupe_stopped`. Rejects with a `ValidationError` (`invalid_options`) for invalid options.
   */
  history(id: string, options?: HistoryOptions): Promise<ReadonlyArray<Store.Commit>> {
    return this.#conversations.history(id, options)
  }

  /** The record of an entry, or `undefined`. **Errors**: as for {@link history}. */
  at(id: string, seq: number): Promise<Conversation | undefined> {
    return this.#conversations.at(id, seq)
  }

  /**
   * The bytes of an image or a file that a message of this conversation refers to (`{ blob, bytes }`); `undefined` for an
   * unknown id.
   *
   * **Details**: `blob` is the SHA-256 of the bytes, so that they never change. An event with a reference has bytes at once. No process
   * is started. The handler of a tool reads those of its own chat with `context.chat.blob(blob)`.
   *
   * **Errors**: rejects with a `SessionError` (`store_failed`, `troupe_stopped`); with a `ValidationError` (`invalid_options`) for an
   * invalid id.
   */
  blob(id: string, blob: string): Promise<Uint8Array | undefined> {
    return this.#conversations.blob(id, blob)
  }

  /**
   * How many bytes the stored images and files of all conversations have together whose ids begin with a prefix, sub-agents included.
   * `undefined` if the store keeps no blobs.
   *
   * **Errors**: rejects with a `SessionError` (`store_failed`, `troupe_stopped`); with a `ValidationError` (`invalid_options`) for a
   * `prefix` that is no text.
   */
  fileBytes(prefix: string): Promise<number | undefined> {
    return this.#conversations.fileBytes(prefix)
  }

  /** A page of the stored conversations, the last written first. **Errors**: as for {@link history}. */
  list(options?: ListOptions): Promise<ChatList> {
    return this.#conversations.list(options)
  }

  /**
   * A page of what the stored conversations wait for: questions, decisions about calls, and results that a person gives. The oldest
   * comes first. No process is started.
   *
   * **Errors**: as for {@link history}, and `store_without_waiting` when the store keeps no such list.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, tool, Troupe } from "@troupe/chat"
   *
   * const pay = tool({ name: "pay", execute: () => "paid" })
   * const script = [{ toolCall: { id: "c1", name: "pay", arguments: { to: "Ann" } } }, { finish: "tool_calls" as const }]
   * const troupe = await Troupe.start({ adapter: Fake.make({ script }), tools: [pay], permissions: { ask: () => "suspend" } })
   * await (await troupe.chat("anna/1")).send("Pay Ann").result()
   *
   * const { waits } = await troupe.waiting({ owner: "anna/" })
   * waits.map(({ chat, kind, tool: name, text }) => [chat, kind, name, text]) // => [["anna/1", "approval", "pay", '{"to":"Ann"}']]
   * await troupe.stop()
   * ```
   */
  waiting(options?: WaitOptions): Promise<WaitList> {
    return this.#conversations.waiting(options)
  }

  /**
   * Messages of stored conversations with words of the query, the best first.
   *
   * **Errors**: as for {@link history}, and a `ValidationError` for invalid options.
   */
  search(options: SearchOptions): Promise<ReadonlyArray<FoundMessage>> {
    return this.#conversations.search(options)
  }

  /**
   * Starts a new conversation from an entry of this one, and returns its chat. The original conversation is unchanged.
   *
   * **Units and defaults**: `at` is the newest entry without an open step; `id` is generated; `agent` is that of the entry.
   *
   * **Errors**: as for {@link history}, `unknown_agent`, and `unknown_chat`, `unknown_commit` for a missing entry, `not_a_step` for an entry
   * with an open step; `chat_exists` for an `id` that is in use.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe } from "@troupe/chat"
   *
   * const says = (text: string) => [{ text }, { finish: "stop" as const }]
   * const adapter = Fake.make({ scripts: [says("Noon."), says("One o'clock."), says("Midnight.")] })
   * const troupe = await Troupe.start({ adapter })
   * const chat = await troupe.chat("a")
   * await chat.send("What time is it?").result()
   * await chat.send("And now?").result()
   *
   * const [, answered] = await troupe.history("a")
   * const fork = await troupe.fork("a", { at: answered?.seq, id: "b" })
   * await fork.send("And at night?").result()
   * fork.thread.messages.map(({ content }) => content) // => ["What time is it?", "Noon.", "And at night?", "Midnight."]
   * chat.thread.messages.length // => 4
   * await troupe.stop()
   * ```
   */
  async fork(id: string, options: ForkOptions = {}): Promise<LocalChatRef> {
    const name = askedAgent(options)
    const fork = await this.#conversations.fork(id, options)
    return this.#living.called(fork, name === undefined ? undefined : { name, replaces: true })
  }

  /**
   * Starts a new conversation with these messages, and returns its chat: a conversation that another program had.
   *
   * **Details**: `id` is generated by default, and `agent` is that of the Troupe. `chat.retry()` answers a thread that ends
   * with a user message or a tool result.
   *
   * **Errors**: rejects with a `SessionError`: `chat_exists` for an `id` that is in use, `unpaired_tool_calls` when a
   * call has no result or a result no call, `store_failed`, `troupe_stopped`; with a `ValidationError` for an invalid message.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe, user } from "@troupe/chat"
   * import { Message } from "@troupe/chat/messages"
   *
   * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Two." }, { finish: "stop" }] }) })
   * const chat = await troupe.begin([user("Hi"), Message.assistant("Hello.")], { id: "c1" })
   * await chat.send("One and one?").result()
   * chat.thread.messages.map(({ content }) => content) // => ["Hi", "Hello.", "One and one?", "Two."]
   * await troupe.stop()
   * ```
   */
  async begin(thread: Thread.ThreadInput, options: BeginOptions = {}): Promise<LocalChatRef> {
    askedAgent(options)
    return this.chat(await this.#conversations.begin(thread, options))
  }

  /**
   * Resets a conversation to an earlier entry, and returns the record it continues from; entry 0 is the empty beginning.
   * Nothing is removed: the rewind is an entry of its own, and can be rewound.
   *
   * **Details**: a live chat continues from that entry; its observers and attached readers get a snapshot. Waiting inputs
   * stay in the inbox. With `cancel`, a running turn is cancelled first.
   *
   * **Errors**: as for {@link fork}, and `busy` while a turn runs or waits, unless `cancel` is set.
   */
  rewind(id: string, seq: number, options: RewindOptions = {}): Promise<Conversation> {
    return this.#conversations.rewind(id, seq, options)
  }

  /**
   * Stops the chat if it runs, and deletes the whole conversation from the store, with those of its sub-agents.
   *
   * **Errors**: rejects with a `SessionError`: `store_failed`, `troupe_stopped`; with a `ValidationError` (`invalid_options`) for an
   * invalid id, and for that of a sub-agent's conversation.
   */
  async delete(id: string): Promise<void> {
    checkOwnId(id)
    for (let living = this.#living.get(id); living !== undefined; living = this.#living.get(id)) {
      await living.chat.stop()
    }
    this.#waited.deleted(id)
    await this.#living.tasks.deleted(id)
    await this.#conversations.delete(id)
  }

  /**
   * Ends the chats of these buckets (`Store.bucketOf`), as `chat.leave()` does. Resolves, when they have left, with the ids of those
   * whose turn was running. For `@troupe/cluster`.
   */
  async leave(buckets: Iterable<number>): Promise<ReadonlyArray<string>> {
    const leaving = this.#living.held.ofBuckets(buckets).map(({ ref }) => ref)
    const running = leaving.filter((ref) => ref.getSnapshot()?.context.turn !== undefined)
    await Promise.all(leaving.map((ref) => ref.leave()))
    return running.map(({ id }) => id)
  }

  /**
   * Gives each turn that begins without options of its own those that the function returns, until the returned function is called. For
   * `@troupe/server`.
   *
   * **Details**: such a turn is begun by the end of a background task, by an input that an earlier program left, or by this program. The
   * function of the last call counts. It is not called for sub-agents.
   */
  turnOptions(optionsOf: (chat: LocalChatRef) => TurnOptions): () => void {
    const { ownOptions } = this.#living
    const added = (chat: LocalChatRef) => optionsOf(chat)
    ownOptions.add(added)
    return () => void ownOptions.delete(added)
  }

  /** The tools of its chats and of all its agents, each name once. */
  get tools(): ReadonlyArray<Tool> {
    return this.#agents.tools
  }

  /** The engine of its chats without an agent. */
  get engine(): Engine.Engine {
    return this.#engine
  }

  /**
   * Runs a chat on plain values as `Chat.stream` does, with this Troupe's engine and chat options. It is not stored and has
   * no chat process. `options` override those of the Troupe.
   *
   * **Details**: `maxToolCalls` does not count its calls.
   *
   * **Errors**: as for `Chat.stream`.
   *
   * @example
   * ```ts import.meta.vitest
   * import { Fake, Troupe, user } from "@troupe/chat"
   *
   * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
   * const types: Array<string> = []
   * for await (const event of await troupe.stream([user("Hello")])) types.push(event.type)
   * types.at(-1) // => "chat_completed"
   * await troupe.stop()
   * ```
   */
  stream(thread: Thread.ThreadInput, options: ChatOptions = {}): Promise<EventStream> {
    return Chat.stream(this.#engine, thread, { ...this.#chatOptions, ...options })
  }

  /** Whether the chat with this id has a process now. */
  isAlive(id: string): boolean {
    return this.#tree.whereis(id) !== undefined
  }

  /** How many chats have a process, or are being started. */
  get liveChats(): number {
    return this.#living.held.size
  }

  /** The handlers in this Troupe's system that still run after their call ended. */
  zombies(): ReadonlyArray<Zombies.Zombie> {
    return Zombies.list(this.system)
  }

  /**
   * Ends all chats and the supervision tree, and resolves when they have ended. May be called more than once, and from a
   * process of the Troupe.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  /** The small object that is printed for a Troupe. */
  [inspected](_depth: number, options: object, inspect: Inspect): string {
    return printed("Troupe", { system: this.system, stopped: this.#stopping !== undefined }, options, inspect)
  }

  /** The JSON form of a Troupe. */
  toJSON(): { readonly system: string; readonly stopped: boolean } {
    return { system: this.system.name, stopped: this.#stopping !== undefined }
  }

  #escalating({ escalateAfterMs: afterMs = Infinity, onEscalate }: TroupeOptions): Escalation | undefined {
    if (afterMs === Infinity) return undefined
    return new Escalation({
      clock: this.system.clock,
      afterMs,
      mark: (askedUntil, limit) => this.#tree.ask({ type: "escalate", askedUntil, limit }),
      onEscalate,
      report: (thrown) => this.#report(thrown, "onEscalate")
    })
  }

  /** TASKREVIVE1: the nodes of a cluster search their buckets themselves. */
  #reviveTasks({ store, home }: TroupeOptions): void {
    const isNeeded = store !== undefined && home === undefined && Store.isSessionStore(store)
    if (!isNeeded || !this.#agents.canHaveTasks) return
    void reviveTasks({
      list: (page) => this.#conversations.list(page),
      load: (id) => this.#living.load(id),
      start: (id) => this.#living.called(id),
      isOver: () => this.#stopping !== undefined,
      report: (thrown) => this.#report(thrown, "TaskRevival")
    })
  }

  /** Reports an error that no caller gets as a crash. */
  #report(thrown: unknown, label: string): void {
    Process.spawn(this.system, () => Promise.reject(thrown), { label })
  }

  async #stop(): Promise<void> {
    this.#escalation?.stop()
    await outsideTurn()
    await this.#tree.stop(async () => {
      await this.#living.tasks.stop()
      await this.#living.stopAll()
    })
    if (this.#ownsSystem) await System.stop(this.system)
  }
}

const anyThread: Thread.Thread = Thread.from([user("")])
