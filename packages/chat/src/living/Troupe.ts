/**
 * A running Troupe: what is asked of all its chats, and what they are started with.
 *
 * Owns: its options, and when it ends. Does not own the supervision tree (`SupervisionTree`), the chats that live in it
 * (`ChatDirectory`), nor the log of a conversation, which the store keeps and `Conversations` asks for.
 *
 * TROUPE3. `stop` ends everything in reverse start order; nothing is left of it.
 *
 * @module
 */
import { System } from "@troupe/otp"
import * as Chat from "../loop/Chat.ts"
import { type ChatOptions, resolveOptions } from "../options/index.ts"
import type { ChatRecord } from "../record/index.ts"
import type { ChatRef } from "./ChatRef.ts"
import * as Engine from "../options/Engine.ts"
import { checkId, Conversations } from "./conversations.ts"
import type { EventStream } from "../events/index.ts"
import { InboxBound } from "../inbox/index.ts"
import { type Inspect, inspected, printed } from "../json/index.ts"
import { keepsLiving, ChatDirectory } from "./chatDirectory.ts"
import { type ChatList, guarded, type HistoryOptions, type ListOptions, takesDrafts } from "../store/index.ts"
import { outsideTurn, ToolSlots } from "../async/index.ts"
import { preflight } from "../request/index.ts"
import { SupervisionTree } from "./supervisionTree.ts"
import { troupeParts, type TroupeOptions } from "./troupeOptions.ts"
import { user } from "../model/index.ts"
import * as Store from "../store/Store.ts"
import * as Thread from "../model/Thread.ts"
import * as Zombies from "../call/Zombies.ts"

export type { TroupeOptions } from "./troupeOptions.ts"

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

/** The type of a started Troupe: `const troupe: Troupe = await Troupe.start(…)`. */
export type Troupe = RunningTroupe

/** A started Troupe. */
export class RunningTroupe {
  /** The system its processes live in. */
  readonly system: System.System
  readonly #ownsSystem: boolean
  readonly #engine: Engine.Engine
  readonly #chatOptions: ChatOptions
  readonly #tree: SupervisionTree
  readonly #living: ChatDirectory
  readonly #conversations: Conversations
  #stopping: Promise<void> | undefined

  /** Starts one; `Troupe.start` does it. */
  static async start(options: TroupeOptions): Promise<RunningTroupe> {
    const troupe = new RunningTroupe(options)
    await troupe.#tree.start(options)
    return troupe
  }

  private constructor(options: TroupeOptions) {
    const { own, engine, chat } = troupeParts(options)
    const { store, system, name = "troupe", onCrash, suspendedTtlMs, answer, maxToolCalls } = own
    this.#engine = Engine.make(engine)
    this.#ownsSystem = system === undefined
    this.system = system ?? System.make({ name, ...(onCrash === undefined ? {} : { onCrash }) })
    const { maxMistakes = 3, maxUnproductive = 3 } = chat
    const defaults = { onUnknownTool: "continue", schedule: "effects" } as const
    this.#chatOptions = { ...defaults, ...chat, maxMistakes, maxUnproductive, system: this.system }
    preflight(this.#engine, anyThread, resolveOptions(this.#engine, this.#chatOptions))
    const kept = store ?? Store.memory({ clock: this.system.clock })
    const writer = Store.isSessionStore(kept) ? System.uuid(this.system, "writers") : ""
    const guardedStore = guarded(kept, this.system.clock, writer, (id) => this.#living.held.has(id))
    const { maxWaitingInputs = 64, maxWaitingBytes = 393_216 } = own
    // A store that ends with the program keeps no more of a reply than the chat itself does.
    const { draftEveryMs = store === undefined ? Infinity : 2_000, passivateAfterMs = 600_000 } = own
    this.#tree = new SupervisionTree(this.system, guardedStore)
    this.#living = new ChatDirectory({
      system: this.system,
      tree: this.#tree,
      engine: this.#engine,
      chatOptions: this.#chatOptions,
      toolSlots: maxToolCalls === undefined ? undefined : new ToolSlots(maxToolCalls),
      suspension: { suspendedTtlMs, answer },
      inbox: new InboxBound({ maxWaitingInputs, maxWaitingBytes }),
      draftEveryMs: draftEveryMs < Infinity && takesDrafts(kept) ? draftEveryMs : undefined,
      passivateAfterMs,
      released: (id) => guardedStore.newest.forget(id)
    })
    keepsLiving(this, this.#living)
    this.#conversations = new Conversations({
      ask: (call) => this.#tree.ask(call),
      living: (id) => this.#living.get(id)?.chat,
      between: (id, work) => this.#living.between(id, work),
      newId: () => System.uuid(this.system, "chats")
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
    return this.#living.called(id)
  }

  /**
   * Whether there is a chat of this id: one that lives here, or one the store keeps. Starts none.
   *
   * **Errors**: rejects with a `SessionError` (`store_failed`, `troupe_stopped`).
   */
  has(id: string): Promise<boolean> {
    return this.#living.has(id)
  }

  /**
   * The entries of a conversation, the oldest first.
   *
   * **Errors**: rejects with a `SessionError`: `store_without_log` where the store keeps the newest record only; `store_failed`;
   * `troupe_stopped`. With a `ValidationError` (`invalid_options`) for options that make no sense.
   */
  history(id: string, options?: HistoryOptions): Promise<ReadonlyArray<Store.Commit>> {
    return this.#conversations.history(id, options)
  }

  /** The record of an entry; `undefined` where there is none. **Errors**: as for {@link history}. */
  at(id: string, seq: number): Promise<ChatRecord | undefined> {
    return this.#conversations.at(id, seq)
  }

  /** A page of the conversations the store has, those last written first. **Errors**: as for {@link history}. */
  list(options?: ListOptions): Promise<ChatList> {
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
    for (let living = this.#living.get(id); living !== undefined; living = this.#living.get(id)) {
      await living.chat.stop()
    }
    await this.#conversations.delete(id)
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
    return this.#tree.whereis(id) !== undefined
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

  /** A printed Troupe is a small object (SHOWN1). */
  [inspected](_depth: number, options: object, inspect: Inspect): string {
    return printed("Troupe", { system: this.system, stopped: this.#stopping !== undefined }, options, inspect)
  }

  /** What the JSON text of a Troupe holds (SHOWN2). */
  toJSON(): { readonly system: string; readonly stopped: boolean } {
    return { system: this.system.name, stopped: this.#stopping !== undefined }
  }

  async #stop(): Promise<void> {
    await outsideTurn()
    await this.#tree.stop(() => this.#living.stopAll())
    if (this.#ownsSystem) await System.stop(this.system)
  }
}

const anyThread: Thread.Thread = Thread.fromMessages([user("")])
