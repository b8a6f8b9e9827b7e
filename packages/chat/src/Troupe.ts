/**
 * A running Troupe: the supervision tree that chats live in.
 *
 * ```text
 * Troupe (rest_for_one)
 * ├─ Registry         chat id → pid
 * ├─ Store            guards the store
 * └─ ChatSupervisor   one child for each living chat, transient
 * ```
 *
 * Owns: the tree, and the address of each chat. Does not own what happens inside a chat.
 *
 * TROUPE1. At most one process lives for a chat id.
 * TROUPE2. A chat that crashes is started again from its last committed state, and by its supervisor's count; too many crashes
 *          end the supervisor, which is started again too. Its chats, and one that could not be loaded again, come back when
 *          they are next sent to.
 * TROUPE3. `stop` ends everything in reverse start order; nothing is left of it.
 * TROUPE4. The store is asked for a chat before its supervisor is asked to start it: a slow one holds up that chat only.
 *
 * @module
 */
import {
  DynamicSupervisor,
  GenServer,
  OtpError,
  type Pid,
  Process,
  Registry,
  StateMachine,
  Supervisor,
  System
} from "@troupe/otp"
import * as Chat from "./Chat.ts"
import type { ChatOptions } from "./ChatOptions.ts"
import { SessionError } from "./ChatError.ts"
import { chatMachine } from "./ChatMachine.ts"
import type { ChatRecord } from "./ChatRecord.ts"
import { ChatRef } from "./ChatRef.ts"
import * as Engine from "./Engine.ts"
import type { AnswerForm } from "./internal/answer.ts"
import { Drafts } from "./internal/drafts.ts"
import type { EventStream } from "./internal/eventStream.ts"
import { inputId } from "./internal/delivery.ts"
import { commitsBehind, type Save } from "./internal/commits.ts"
import { checkId, Conversations } from "./internal/conversations.ts"
import { type ChatPid, LiveChat } from "./internal/liveChat.ts"
import { LiveView } from "./internal/liveView.ts"
import { Passivation } from "./internal/passivation.ts"
import { preflight } from "./internal/preflight.ts"
import { checkRecord, checkTroupeOptions } from "./internal/troupeOptions.ts"
import { type RunOptions, resolveOptions } from "./internal/resolveOptions.ts"
import { ToolSlots } from "./internal/toolSlots.ts"
import {
  guarded,
  type Guarded,
  type StoreCall,
  type StoreServer,
  type StoreValues,
  storeServer,
  takesDrafts
} from "./internal/storeServer.ts"
import type { Hooks } from "./Hooks.ts"
import { user } from "./Message.ts"
import { chatLabel, keepsLiving } from "./internal/livingChats.ts"
import * as Store from "./Store.ts"
import * as Thread from "./Thread.ts"
import type { ChatHandle } from "./Tool.ts"
import { describe } from "./ToolResultEncoder.ts"
import * as Zombies from "./Zombies.ts"

/**
 * What a Troupe is started with: an engine's parts, the options of its chats, and where they are kept.
 *
 * **Units and defaults**: `store` is in memory, with its log. `system` is a new one, which `stop` stops too. `maxRestarts` crashes of chats
 * in `maxSeconds` are put up with before their supervisor is restarted: 3 in 5. Chats tell the model about unknown tools
 * (`onUnknownTool: "continue"`) unless told otherwise, and run tools by their effects (`schedule: "effects"`). A chat waits for its user for ever, unless there is a
 * `suspendedTtlMs`; the user's answer is a message (`answer: "user_message"`).
 */
export interface TroupeOptions
  extends Engine.EngineOptions, Omit<ChatOptions, keyof Engine.EngineOptions | "signal" | "requestId"> {
  readonly store?: Store.Store | undefined
  readonly system?: System.System | undefined
  readonly name?: string | undefined
  readonly maxRestarts?: number | undefined
  readonly maxSeconds?: number | undefined
  /**
   * How long a chat waits for the user's answer, or for tool results, in milliseconds. When it is over the question is
   * withdrawn, the calls are answered as cancelled, and the chat is at rest, its `lastHaltedReason` `expired`. The time goes on
   * while the program does not run. `Infinity` is for ever.
   */
  readonly suspendedTtlMs?: number | undefined
  /** Where the answer to a tool's question goes: behind it, or into the call's result. */
  readonly answer?: AnswerForm | undefined
  /**
   * How many tool calls of all chats run at once. Default: no bound. Chats take turns: a chat with many calls does not hold
   * up one with few. A call that is waited for no longer counts no more.
   */
  readonly maxToolCalls?: number | undefined
  /**
   * How often what a reply has said is kept while it streams, in milliseconds, where the store takes it. Default: 2,000;
   * `Infinity` is never, and the default where no store is given.
   */
  readonly draftEveryMs?: number | undefined
  /**
   * How long a chat may rest, watched by nobody, before its process ends, in milliseconds: at most a quarter more. It is there
   * again, from the store, as soon as somebody wants something of it. Default: 600,000, ten minutes; `Infinity` is never.
   */
  readonly passivateAfterMs?: number | undefined
  /** Told of every crash, in a form people can read. Default: nobody. */
  readonly onCrash?: ((report: System.CrashReport) => void) | undefined
}

/** Where a fork begins, and what it is called. */
export interface ForkOptions {
  readonly at?: number | undefined
  readonly id?: string | undefined
}

/** Whether a rewind cancels a turn that runs; by default it is refused then. */
export interface RewindOptions {
  readonly cancel?: boolean | undefined
}

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
  start: async (options: TroupeOptions): Promise<RunningTroupe> => {
    return RunningTroupe.start(options)
  }
} as const

/** What is kept of a chat that was asked for: it, its address, and what its tools may say to it. */
interface Living {
  readonly chat: LiveChat
  readonly ref: ChatRef
  readonly handle: ChatHandle
}

const handleOf = (ref: ChatRef): ChatHandle => ({
  id: ref.id,
  send: async (input, options) => ref.send(input, { whenBusy: "steer", ...options }).receipt
})

/** A started Troupe. */
export class RunningTroupe {
  /** The system its processes live in. */
  readonly system: System.System
  readonly #ownsSystem: boolean
  readonly #engine: Engine.Engine
  readonly #chatOptions: ChatOptions
  readonly #toolSlots: ToolSlots | undefined
  readonly #store: Guarded
  readonly #conversations: Conversations
  readonly #draftEveryMs: number
  readonly #passivation: Passivation<Living>
  readonly #supervision: Pick<TroupeOptions, "name" | "maxRestarts" | "maxSeconds">
  readonly #suspension: Pick<TroupeOptions, "suspendedTtlMs" | "answer">
  readonly #living = new Map<string, Living>()
  readonly #reviving = new Map<string, Promise<ChatPid>>()
  #stopping: Promise<void> | undefined
  #root: Pid | undefined
  #registry: Pid | undefined
  #storeServer: StoreServer | undefined
  #chats: Pid | undefined
  readonly #supervisorAwaited = new Set<() => void>()

  /** Starts one; `Troupe.start` does it. */
  static async start(options: TroupeOptions): Promise<RunningTroupe> {
    const troupe = new RunningTroupe(options)
    await troupe.#begin()
    return troupe
  }

  private constructor(options: TroupeOptions) {
    checkTroupeOptions(options)
    keepsLiving(this, this.#living)
    const {
      store,
      system,
      name,
      maxRestarts,
      maxSeconds,
      onCrash,
      suspendedTtlMs,
      answer,
      maxToolCalls,
      draftEveryMs,
      passivateAfterMs = 600_000,
      ...rest
    } = options
    const { engine, chat } = split(rest)
    this.#engine = Engine.make(engine)
    this.#ownsSystem = system === undefined
    this.system = system ?? System.make({ name: name ?? "troupe", ...(onCrash === undefined ? {} : { onCrash }) })
    this.#chatOptions = { onUnknownTool: "continue", schedule: "effects", ...chat, system: this.system }
    preflight(this.#engine, anyThread, resolveOptions(this.#engine, this.#chatOptions))
    this.#toolSlots = maxToolCalls === undefined ? undefined : new ToolSlots(maxToolCalls)
    const kept = store ?? Store.memory({ clock: this.system.clock })
    const writer = Store.isSessionStore(kept) ? System.uuid(this.system, "writers") : ""
    this.#store = guarded(kept, this.system.clock, writer, (id) => this.#living.has(id))
    this.#conversations = new Conversations({
      ask: (call) => this.#ask(call),
      living: (id) => this.#passivation.get(id)?.chat,
      between: (id, work) => this.#between(id, work),
      newId: () => System.uuid(this.system, "chats")
    })
    // A store that ends with the program keeps no more of a reply than the chat itself does.
    this.#draftEveryMs = draftEveryMs ?? (store === undefined ? Infinity : 2_000)
    this.#passivation = new Passivation(
      this.system.clock,
      passivateAfterMs,
      this.#living,
      (id) => this.#reviving.has(id),
      (id) => void this.#store.newest.delete(id)
    )
    this.#supervision = { name, maxRestarts, maxSeconds }
    this.#suspension = { suspendedTtlMs, answer }
  }

  async #begin(): Promise<void> {
    const { maxRestarts, maxSeconds } = this.#supervision
    const limits = {
      ...(maxRestarts === undefined ? {} : { maxRestarts }),
      ...(maxSeconds === undefined ? {} : { maxSeconds })
    }
    this.#root = await Supervisor.start(this.system, {
      strategy: "restForOne",
      label: "Troupe",
      // Nobody above could start the tree again, so it does not give up; what it starts again is empty.
      maxRestarts: Number.MAX_SAFE_INTEGER,
      children: [
        {
          id: "Registry",
          start: async (parent) => (this.#registry = await Registry.startLink(parent, { label: "Registry" }))
        },
        {
          id: "Store",
          start: async (parent) => (this.#storeServer = await GenServer.startLink(parent, storeServer, this.#store))
        },
        {
          id: "ChatSupervisor",
          type: "supervisor",
          start: async (parent) =>
            this.#supervisorStarted(await DynamicSupervisor.startLink(parent, { label: "ChatSupervisor", ...limits }))
        }
      ]
    })
  }

  /**
   * The chat with this id: spawns it, finds it alive, or revives it from the store.
   *
   * **Errors**: rejects with a `SessionError`: `troupe_stopped` after `stop`, `store_failed` when the store fails,
   * `invalid_record` when what it has is no chat; with a `ValidationError` for an id that is no text.
   */
  async chat(id: string): Promise<ChatRef> {
    checkId(id)
    let living = this.#passivation.get(id)
    if (living === undefined) {
      const chat = new LiveChat(id, this.#home, this.#viewOf(id))
      const ref = new ChatRef(chat)
      living = { chat, ref, handle: handleOf(ref) }
      this.#passivation.hold(id, living)
    }
    living.chat.touched()
    await this.#revive(id)
    return living.ref
  }

  /**
   * Whether there is a chat of this id: one that lives here, or one the store keeps. Starts none.
   *
   * **Errors**: rejects with a `SessionError` (`store_failed`, `troupe_stopped`).
   */
  async has(id: string): Promise<boolean> {
    return this.#living.has(id) || (await this.#load(id)) !== undefined
  }

  /**
   * The entries of a conversation, the oldest first.
   *
   * **Errors**: rejects with a `SessionError`: `store_without_log` where the store keeps the newest record only; `store_failed`;
   * `troupe_stopped`. With a `ValidationError` (`invalid_options`) for options that make no sense.
   */
  history(id: string, options?: Store.HistoryOptions): Promise<ReadonlyArray<Store.Commit>> {
    return this.#conversations.history(id, options)
  }

  /** The record of an entry; `undefined` where there is none. **Errors**: as for {@link history}. */
  at(id: string, seq: number): Promise<ChatRecord | undefined> {
    return this.#conversations.at(id, seq)
  }

  /** A page of the conversations the store has, those last written first. **Errors**: as for {@link history}. */
  list(options?: Store.ListOptions): Promise<Store.ChatList> {
    return this.#conversations.list(options)
  }

  /**
   * Begins another conversation where this one was at an entry, and gives that chat. This one goes on as it is.
   *
   * **Units and defaults**: `at` is the newest entry without an open step; `id` is a new one.
   *
   * **Errors**: as for {@link history}, and `unknown_chat`, `unknown_commit` and `not_a_step` for an entry that is not there, or
   * where a step was open; `chat_exists` for an `id` that is taken.
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
  async fork(id: string, options: ForkOptions = {}): Promise<ChatRef> {
    return this.chat(await this.#conversations.fork(id, options.at, options.id))
  }

  /**
   * Has a conversation stand where it stood at an earlier entry, and gives the record it goes on from; 0 is the beginning, where
   * nothing was said. Nothing is removed: the rewind is an entry of its own, and can be rewound.
   *
   * **Details**: a chat that lives goes on from there; those who observe it, or are attached, get a snapshot. Inputs that wait
   * go on waiting. `cancel` has a turn that runs cancelled first.
   *
   * **Errors**: as for {@link fork}, and `busy` while a turn runs or waits, unless it is to be cancelled.
   */
  rewind(id: string, seq: number, options: RewindOptions = {}): Promise<ChatRecord> {
    return this.#conversations.rewind(id, seq, options.cancel === true)
  }

  /**
   * Stops a chat, if it lives, and removes all there is of the conversation.
   *
   * **Errors**: rejects with a `SessionError`: `store_failed`, `troupe_stopped`.
   */
  async delete(id: string): Promise<void> {
    for (let living = this.#passivation.get(id); living !== undefined; living = this.#passivation.get(id)) {
      await living.chat.stop()
    }
    await this.#conversations.delete(id)
  }

  get #takesDrafts(): boolean {
    return this.#draftEveryMs < Infinity && takesDrafts(this.#store.store)
  }

  #viewOf(id: string): LiveView {
    const { clock } = this.system
    const keep = (text: string): void => {
      if (this.#storeServer !== undefined) GenServer.cast(this.#storeServer, { id, text })
    }
    const drafts = this.#takesDrafts ? new Drafts(clock, this.#draftEveryMs, keep) : undefined
    return new LiveView(clock, this.#chatOptions.permissions?.mode, drafts)
  }

  /** What its chats run on. */
  get engine(): Engine.Engine {
    return this.#engine
  }

  /**
   * Runs a chat on plain values as `Chat.stream` does, with this Troupe's engine and its chats' options: nothing is kept of it,
   * and it is no living chat. `options` take the place of the Troupe's.
   *
   * **Details**: `maxToolCalls` does not count its calls.
   *
   * **Errors**: as of `Chat.stream`.
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

  /** Whether the chat of this id has a process now. */
  isAlive(id: string): boolean {
    return this.#alive(id) !== undefined
  }

  /** The handlers of this Troupe's system that still run though their call is over. */
  zombies(): ReadonlyArray<Zombies.Zombie> {
    return Zombies.list(this.system)
  }

  /** Ends all chats and the tree; resolves when they have ended, however often it is called, from wherever. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    await outsideTurn()
    const root = this.#root
    if (root === undefined) return
    this.#root = undefined
    this.#passivation.stop()
    await Promise.all(this.#passivation.all.map(({ chat }) => chat.stop()))
    if (Process.isAlive(root)) await GenServer.stop(root, "shutdown")
    if (this.#ownsSystem) await System.stop(this.system)
  }

  readonly #home = {
    options: (id: string): RunOptions =>
      resolveOptions(
        this.#engine,
        { sessionId: id, ...this.#chatOptions },
        { toolSlots: this.#toolSlots, chat: this.#living.get(id)?.handle }
      ),
    hooks: (): Hooks | undefined => this.#chatOptions.hooks,
    revive: (id: string): Promise<ChatPid> => this.#revive(id),
    stop: (id: string): Promise<void> => this.#stopChat(id),
    newId: (): string => inputId(this.system),
    kept: (id: string, withinMs: number): Promise<ChatRecord | undefined> => this.#kept(id, withinMs)
  }

  /** The chat's process, started if there is none (TROUPE1). */
  #revive(id: string): Promise<ChatPid> {
    const underWay = this.#reviving.get(id)
    if (underWay !== undefined) return underWay
    this.#passivation.hold(id)
    const reviving = this.#find(id).finally(() => this.#reviving.delete(id))
    this.#reviving.set(id, reviving)
    return reviving
  }

  /** Does something while no process of a living chat is started; then one is, whatever came of it (CONV2). */
  async #between(id: string, work: () => Promise<void>): Promise<void> {
    for (let underWay = this.#reviving.get(id); underWay !== undefined; underWay = this.#reviving.get(id)) {
      await underWay.catch(() => undefined)
    }
    this.#passivation.hold(id)
    const reviving = work()
      .then(() => this.#find(id))
      .finally(() => this.#reviving.delete(id))
    this.#reviving.set(id, reviving)
    await reviving
  }

  /**
   * A process of the tree can end meanwhile, which is started again, and the supervisor after it: then this looks again. No
   * other process of the chat can begin between the load and the start, since every start comes here, once at a time.
   */
  async #find(id: string): Promise<ChatPid> {
    await outsideTurn()
    for (;;) {
      const alive = this.#alive(id)
      if (alive !== undefined) return alive
      const chats = await this.#supervisor()
      if (!this.#living.has(id))
        throw new SessionError("chat_stopped", `The chat ${id} was stopped while it was started`)
      try {
        const record = await this.#load(id)
        checkRecord(id, record)
        let begun = false
        return await DynamicSupervisor.startChild(chats, {
          id,
          restart: "transient",
          start: (parent) => {
            if (begun) return this.#startAgain(id)
            begun = true
            return this.#startChat(parent, id, record)
          }
        })
      } catch (error) {
        if (error instanceof OtpError.StartIgnored || this.#chatsUp() !== chats) continue
        throw error instanceof OtpError.StartFailed ? error.reason : error
      }
    }
  }

  /** The supervisor of chats, if it and what stands before it live: the death of one of those ends it too. */
  #chatsUp(): Pid | undefined {
    const [registry, store, chats] = [this.#registry, this.#storeServer, this.#chats]
    if (registry === undefined || store === undefined || chats === undefined) return undefined
    return [registry, store, chats].every(Process.isAlive) ? chats : undefined
  }

  /** The supervisor of chats, waited for while the tree is started again. */
  async #supervisor(): Promise<Pid> {
    for (;;) {
      const root = this.#root
      const chats = this.#chatsUp()
      if (root === undefined || !Process.isAlive(root)) {
        throw new SessionError("troupe_stopped", "This Troupe has ended; start another with Troupe.start")
      }
      if (chats !== undefined) return chats
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#supervisorAwaited.add(resolve)
      const forget = Process.onExit(root, () => resolve())
      await promise
      forget()
    }
  }

  #supervisorStarted(chats: Pid): Pid {
    this.#chats = chats
    for (const told of this.#supervisorAwaited) told()
    this.#supervisorAwaited.clear()
    return chats
  }

  #alive(id: string): ChatPid | undefined {
    return this.#registry === undefined ? undefined : Registry.whereis(this.#registry, id)
  }

  /**
   * A chat crashed, and its supervisor counted that: it is started as one that was asked for (TROUPE4). Where that fails, those
   * whose turns wait are told, and the next to ask tries again. A start under way may be the one that crashed, and is over first.
   */
  #startAgain(id: string): "ignore" {
    const again = (): void => void this.#revive(id).catch(() => {})
    const underWay = this.#reviving.get(id)
    if (underWay === undefined) again()
    else underWay.then(again, again)
    return "ignore"
  }

  #startChat(parent: Pid, id: string, record: ChatRecord | undefined): ChatPid | "ignore" {
    const registry = this.#registry
    const chat = this.#living.get(id)?.chat
    if (registry === undefined || chat === undefined || this.#alive(id) !== undefined) return "ignore"
    // The tree is being started again, and this supervisor with it: a process here would be ended at once.
    if (this.#chatsUp() !== parent) return "ignore"
    const life: { pid?: ChatPid } = {}
    const pid = StateMachine.startLink(parent, chatMachine, {
      input: {
        id,
        engine: this.#engine,
        record: chat.recall(record),
        cutOff: chat.cutOff(record),
        commit: commitsBehind(record, this.#saver(chat), () => chat.conflicted(life.pid)),
        watcher: chat.view,
        clock: this.system.clock,
        ...this.#suspension
      },
      label: chatLabel(id)
    })
    life.pid = pid
    Registry.register(registry, id, pid)
    chat.attached(pid)
    if (this.#takesDrafts) Process.onExit(pid, () => this.#left(id))
    return pid
  }

  /** The store's process need not know any more which entry of the chat is the newest. */
  #left(id: string): void {
    const store = this.#storeServer
    if (store !== undefined && Process.isAlive(store)) GenServer.cast(store, { left: id })
  }

  #saver(chat: LiveChat): Save {
    return (record, after) => chat.keep(() => this.#ask<"save">({ type: "save", record, after }))
  }

  #kept(id: string, withinMs: number): Promise<ChatRecord | undefined> {
    return new Promise((resolve) => {
      const timer = this.system.clock.setTimeout(() => resolve(undefined), withinMs)
      const answered = (record: ChatRecord | undefined) => {
        this.system.clock.clearTimeout(timer)
        resolve(record)
      }
      this.#ask({ type: "load", id }).then(answered, () => answered(undefined))
    })
  }

  async #load(id: string): Promise<ChatRecord | undefined> {
    try {
      return await this.#ask({ type: "load", id })
    } catch (cause) {
      throw new SessionError("store_failed", `The chat ${id} could not be loaded: ${describe(cause)}; try again`, {
        cause
      })
    }
  }

  async #ask<Type extends StoreCall["type"]>(
    call: Extract<StoreCall, { readonly type: Type }>
  ): Promise<StoreValues[Type]> {
    if (this.#storeServer === undefined) throw new SessionError("troupe_stopped", "The store is not running")
    const answer = await GenServer.call(this.#storeServer, call)
    if ("error" in answer) throw answer.error
    // The process answers each call with its kind of value.
    return answer.value as StoreValues[Type]
  }

  async #stopChat(id: string): Promise<void> {
    await outsideTurn()
    this.#passivation.forget(id)
    const pid = this.#alive(id)
    const chats = this.#chats
    if (pid === undefined || chats === undefined) return
    try {
      await DynamicSupervisor.terminateChild(chats, pid)
    } catch (error) {
      // A supervisor that ends meanwhile ends its chats.
      if (Process.isAlive(chats) || Process.isAlive(pid)) throw error
    }
  }
}

/** The turn of a process is synchronous: after this no process is calling, so that its end cannot drop the call. */
const outsideTurn = (): Promise<void> => Promise.resolve()

const anyThread: Thread.Thread = Thread.fromMessages([user("")])

const engineKeys: ReadonlySet<string> = new Set(Object.keys(Engine.EngineOptions.shape))

/** The engine's parts and the chats' options, which come in one object. */
const split = (
  options: Engine.EngineOptions & ChatOptions
): { readonly engine: Engine.EngineOptions; readonly chat: ChatOptions } => {
  const entries = Object.entries(options)
  return {
    engine: Object.fromEntries(entries.filter(([key]) => engineKeys.has(key))),
    chat: Object.fromEntries(entries.filter(([key]) => !engineKeys.has(key)))
  }
}
