/**
 * The supervision tree of a Troupe.
 *
 * ```text
 * Troupe (rest_for_one)
 * ├─ Registry         chat id → pid
 * ├─ Store            guards the store
 * ├─ ChatSupervisor   one child for each living chat, transient
 * └─ TaskSupervisor   one child for each background task, once there was one
 * ```
 *
 * Owns: the tree, and the present pids of its processes. Does not own the chats' processes, which `ChatDirectory` starts
 * under the last of them, nor the calls to the store, which outlive the process that guards it.
 *
 * TREE1. When a process dies, the processes after it end, and all of them are restarted. A caller that needs the supervisor
 *        of chats meanwhile waits.
 * TREE2. Once the tree is stopping, no caller waits for it, and nothing is started under it.
 * STARTS1. At most as many chats are started at once as there are slots; the others wait in their order.
 */
import {
  DynamicSupervisor,
  GenServer,
  OtpError,
  type Pid,
  Process,
  Registry,
  Supervisor,
  type System,
  Channel
} from "@troupe/otp"
import { isFenced, SessionError } from "../errors/index.ts"
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

/** The restart limit of the supervisor of chats. */
export interface Limits {
  readonly maxRestarts?: number | undefined
  readonly maxSeconds?: number | undefined
}

/** How often an input is given to the store's process, if that dies each time. */
const mostCalls = 5

export class SupervisionTree {
  readonly #system: System.System
  readonly #store: Guarded
  #root: Pid | undefined
  #registry: Pid | undefined
  #storeServer: StoreServer | undefined
  #chats: Pid | undefined
  #tasks: Pid | undefined
  #tasksAdded: Promise<unknown> | undefined
  readonly #awaited = new Set<() => void>()
  /** The supervisor of each process of a chat. */
  readonly #supervisors = new WeakMap<ChatPid, Pid>()

  constructor(system: System.System, store: Guarded) {
    this.#system = system
    this.#store = store
  }

  async start({ maxRestarts, maxSeconds }: Limits): Promise<void> {
    const limits = {
      ...(maxRestarts !== undefined && { maxRestarts }),
      ...(maxSeconds !== undefined && { maxSeconds })
    }
    this.#root = await Supervisor.start(this.#system, {
      strategy: "restForOne",
      label: "Troupe",
      // No supervisor above could restart the tree, so it never gives up; the processes it restarts hold no state.
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

  /** Ends the tree in reverse start order; `chats` first ends the processes under its supervisor of chats (TREE2). */
  async stop(chats: () => Promise<void>): Promise<void> {
    const root = this.#root
    if (root === undefined) return
    this.#root = undefined
    await chats()
    if (Process.isAlive(root)) await GenServer.stop(root, "shutdown")
  }

  #chatsStarted(chats: Pid): Pid {
    this.#chats = chats
    return this.#started(chats)
  }

  /** A supervisor has started, for which callers may wait. */
  #started(pid: Pid): Pid {
    for (const resolve of this.#awaited) resolve()
    this.#awaited.clear()
    return pid
  }

  /** The supervisor of chats, if it and the processes before it are alive: the death of one of those ends it too. */
  get chatsUp(): Pid | undefined {
    const [registry, store, chats] = [this.#registry, this.#storeServer, this.#chats]
    if (registry === undefined || store === undefined || chats === undefined) return undefined
    return [registry, store, chats].every(Process.isAlive) ? chats : undefined
  }

  /** Returns the supervisor of chats; waits while the tree restarts (TREE1). */
  async chats(): Promise<Pid> {
    for (;;) {
      const root = this.#root
      const chats = this.chatsUp
      if (root === undefined || !Process.isAlive(root)) {
        throw stopped(undefined)
      }
      if (chats !== undefined) return chats
      await this.#nextStart(root)
    }
  }

  /** Returns the supervisor of background tasks, which is the last child of the tree, and is added when it is needed. */
  async tasks(): Promise<Pid> {
    for (;;) {
      await this.chats()
      const root = this.#root
      if (root === undefined) throw stopped(undefined)
      await (this.#tasksAdded ??= Supervisor.startChild(root, {
        id: "TaskSupervisor",
        type: "supervisor",
        start: async (parent) =>
          this.#started((this.#tasks = await DynamicSupervisor.startLink(parent, { label: "TaskSupervisor" })))
      }))
      const tasks = this.#tasks
      if (tasks !== undefined && Process.isAlive(tasks)) return tasks
      await this.#nextStart(root)
    }
  }

  async #nextStart(root: Pid): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#awaited.add(resolve)
    const forget = Process.onExit(root, () => resolve())
    await promise
    forget()
  }

  /** Whether the store keeps a log of each conversation. */
  get hasLog(): boolean {
    return this.#store.log !== undefined
  }

  /** The process of the chat, if it is alive. */
  whereis(id: string): ChatPid | undefined {
    return this.#registry === undefined ? undefined : Registry.whereis(this.#registry, id)
  }

  /** Registers a process under its supervisor; `whereis` returns it while it is alive. */
  register(id: string, pid: ChatPid, supervisor: Pid): void {
    this.#supervisors.set(pid, supervisor)
    if (this.#registry !== undefined) Registry.register(this.#registry, id, pid)
  }

  /** Ends the process of a chat with `end`, which gets its supervisor. */
  async terminate(pid: ChatPid, end: (supervisor: Pid) => Promise<void>): Promise<void> {
    const chats = this.#supervisors.get(pid)
    if (chats === undefined) return
    try {
      await end(chats)
    } catch (error) {
      // A supervisor that ended meanwhile has ended its chats.
      if (Process.isAlive(chats) || Process.isAlive(pid)) throw error
    }
  }

  /** Calls the store through its process; rejects with the store's error, and with `troupe_stopped` after the stop. */
  async ask<Type extends StoreCall["type"]>(
    call: Extract<StoreCall, { readonly type: Type }>
  ): Promise<StoreValues[Type]> {
    if (this.#storeServer === undefined) throw new SessionError("troupe_stopped", "The store is not running")
    const answering = GenServer.call(this.#storeServer, call)
    let answer: Awaited<typeof answering>
    try {
      answer = await answering
    } catch (cause) {
      throw this.#root === undefined && hasDied(cause) ? stopped(cause) : cause
    }
    if ("error" in answer) throw answer.error
    // The process replies to each call with the value of its type.
    return answer.value as StoreValues[Type]
  }

  /**
   * Stores an input that waits, or a blob. When the store's process dies, its successor is called: the same id is the same data. When that
   * call fails, the error is still the first one: the store may have done the first call.
   */
  async add<Type extends "accept" | "putBlob">(
    call: Extract<StoreCall, { readonly type: Type }>
  ): Promise<StoreValues[Type]> {
    let first: unknown
    for (let calls = 1; ; calls++) {
      try {
        return await this.ask<Type>(call)
      } catch (error) {
        if (!hasDied(error) || calls === mostCalls) throw first === undefined || isFenced(error) ? error : first
        first ??= error
        // A stop of the Troupe answers no more than the death of the process.
        await this.chats().catch(() => Promise.reject(first))
      }
    }
  }

  /** Sends a notice to the store's process; returns whether that is alive. */
  notify(notified: Draft | Left): boolean {
    const store = this.#storeServer
    if (store === undefined || !Process.isAlive(store)) return false
    GenServer.cast(store, notified)
    return true
  }
}

/** Whether a process that was called had ended, or ended before its answer. */
const hasDied = (error: unknown): boolean => error instanceof OtpError.CallExit && error.reason !== "timeout"

const stopped = (cause: unknown): SessionError =>
  new SessionError(
    "troupe_stopped",
    "This Troupe was stopped, and its chats with it; start another with Troupe.start",
    { cause }
  )

/** The slots of a Troupe. */
export class StartSlots {
  #free: number
  readonly #waiting = new Channel.Fifo<() => void>()

  /** `Infinity` is no bound. */
  constructor(count: number) {
    this.#free = count
  }

  /** Runs a start when a slot is free. */
  during<A>(start: () => Promise<A>): Promise<A> {
    return this.#free === Infinity ? start() : this.#inSlot(start)
  }

  async #inSlot<A>(start: () => Promise<A>): Promise<A> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await start()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}
