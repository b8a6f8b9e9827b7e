/**
 * The supervision tree of a Troupe.
 *
 * ```text
 * Troupe (rest_for_one)
 * ├─ Registry         chat id → pid
 * ├─ Store            guards the store
 * └─ ChatSupervisor   one child for each living chat, transient
 * ```
 *
 * Owns: the tree, and the present pids of what stands in it. Does not own the chats' processes, which `ChatDirectory` starts under
 * the last of them, nor what the store was asked, which outlives the process that guards it.
 *
 * TREE1. The death of a process ends those behind it, and all of them are started again; who needs the supervisor of chats
 *        meanwhile waits for it.
 * TREE2. Once the tree is to end nothing waits for it any more, and nothing is started under it.
 */
import { DynamicSupervisor, GenServer, type Pid, Process, Registry, Supervisor, type System } from "@troupe/otp"
import { SessionError } from "../errors/index.ts"
import {
  type Draft,
  type Guarded,
  type Left,
  type StoreCall,
  type StoreServer,
  storeServer,
  type StoreValues
} from "../store/index.ts"
import type { ChatPid } from "./chatCommands.ts"

/** How many crashes of chats their supervisor puts up with. */
export interface Limits {
  readonly maxRestarts?: number | undefined
  readonly maxSeconds?: number | undefined
}

export class SupervisionTree {
  readonly #system: System.System
  readonly #store: Guarded
  #root: Pid | undefined
  #registry: Pid | undefined
  #storeServer: StoreServer | undefined
  #chats: Pid | undefined
  readonly #awaited = new Set<() => void>()

  constructor(system: System.System, store: Guarded) {
    this.#system = system
    this.#store = store
  }

  async start({ maxRestarts, maxSeconds }: Limits): Promise<void> {
    const limits = {
      ...(maxRestarts === undefined ? {} : { maxRestarts }),
      ...(maxSeconds === undefined ? {} : { maxSeconds })
    }
    this.#root = await Supervisor.start(this.#system, {
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
            this.#chatsStarted(await DynamicSupervisor.startLink(parent, { label: "ChatSupervisor", ...limits }))
        }
      ]
    })
  }

  /** Ends the tree in reverse start order; `chats` ends what stands under its supervisor of chats before that (TREE2). */
  async stop(chats: () => Promise<void>): Promise<void> {
    const root = this.#root
    if (root === undefined) return
    this.#root = undefined
    await chats()
    if (Process.isAlive(root)) await GenServer.stop(root, "shutdown")
  }

  #chatsStarted(chats: Pid): Pid {
    this.#chats = chats
    for (const resolve of this.#awaited) resolve()
    this.#awaited.clear()
    return chats
  }

  /** The supervisor of chats, if it and what stands before it live: the death of one of those ends it too. */
  get chatsUp(): Pid | undefined {
    const [registry, store, chats] = [this.#registry, this.#storeServer, this.#chats]
    if (registry === undefined || store === undefined || chats === undefined) return undefined
    return [registry, store, chats].every(Process.isAlive) ? chats : undefined
  }

  /** The supervisor of chats, waited for while the tree is started again (TREE1). */
  async chats(): Promise<Pid> {
    for (;;) {
      const root = this.#root
      const chats = this.chatsUp
      if (root === undefined || !Process.isAlive(root)) {
        throw new SessionError("troupe_stopped", "This Troupe has ended; start another with Troupe.start")
      }
      if (chats !== undefined) return chats
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#awaited.add(resolve)
      const forget = Process.onExit(root, () => resolve())
      await promise
      forget()
    }
  }

  /** The process of the chat, if it lives. */
  whereis(id: string): ChatPid | undefined {
    return this.#registry === undefined ? undefined : Registry.whereis(this.#registry, id)
  }

  /** `whereis` answers this process from here on, while it lives. */
  register(id: string, pid: ChatPid): void {
    if (this.#registry !== undefined) Registry.register(this.#registry, id, pid)
  }

  /** Ends the process of a chat, whose supervisor does not start it again. */
  async terminate(pid: ChatPid): Promise<void> {
    const chats = this.#chats
    if (chats === undefined) return
    try {
      await DynamicSupervisor.terminateChild(chats, pid)
    } catch (error) {
      // A supervisor that ends meanwhile ends its chats.
      if (Process.isAlive(chats) || Process.isAlive(pid)) throw error
    }
  }

  /** What the store answers by way of its process; rejects with what the store threw. */
  async ask<Type extends StoreCall["type"]>(
    call: Extract<StoreCall, { readonly type: Type }>
  ): Promise<StoreValues[Type]> {
    if (this.#storeServer === undefined) throw new SessionError("troupe_stopped", "The store is not running")
    const answer = await GenServer.call(this.#storeServer, call)
    if ("error" in answer) throw answer.error
    // The process answers each call with its kind of value.
    return answer.value as StoreValues[Type]
  }

  /** Tells the store's process something, if there is one to hear it. */
  notify(notified: Draft | Left): void {
    const store = this.#storeServer
    if (store !== undefined && Process.isAlive(store)) GenServer.cast(store, notified)
  }
}
