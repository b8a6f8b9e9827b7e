/**
 * The chats of a Troupe that live, and their way back to life.
 *
 * Owns: which chats were asked for, and which of them is being started. Does not own how long they are held (`Passivation`),
 * the tree their processes stand in, nor what happens inside a chat.
 *
 * TROUPE1. At most one process lives for a chat id.
 * TROUPE2. A chat that crashes is started again from its last committed state, and by its supervisor's count; too many crashes
 *          end the supervisor, which is started again too. Its chats, and one that could not be loaded again, come back when
 *          they are next sent to.
 * TROUPE4. The store is asked for a chat before its supervisor is asked to start it: a slow one holds up that chat only.
 */
import { DynamicSupervisor, OtpError, type Pid, Process, StateMachine, type System } from "@troupe/otp"
import { type ChatOptions, resolveOptions } from "../options/index.ts"
import { SessionError } from "../errors/index.ts"
import { chatMachine } from "../loop/index.ts"
import type { ChatRecord } from "../record/index.ts"
import { ChatRef } from "./ChatRef.ts"
import { checkRecord, commitsBehind, Drafts, type Save } from "../store/index.ts"
import { type InboxBound, inputId } from "../inbox/index.ts"
import { type ChatHome, LiveChat } from "./liveChat.ts"
import { LiveView } from "../view/index.ts"
import { outsideTurn, type ToolSlots } from "../async/index.ts"
import { Passivation } from "./passivation.ts"
import type { SupervisionTree } from "./supervisionTree.ts"
import type { ChatHandle, Engine } from "../tool/index.ts"
import { describe } from "../values/index.ts"
import type { TroupeOptions } from "./troupeOptions.ts"
import type { ChatPid } from "./chatCommands.ts"

/** What is kept of a chat that was asked for: it, its address, and what its tools may say to it. */
export interface Living {
  readonly chat: LiveChat
  readonly ref: ChatRef
  readonly handle: ChatHandle
}

/** What chats are started with. */
export interface ChatParts {
  readonly system: System.System
  readonly tree: SupervisionTree
  readonly engine: Engine
  readonly chatOptions: ChatOptions
  readonly toolSlots: ToolSlots | undefined
  readonly suspension: Pick<TroupeOptions, "suspendedTtlMs" | "answer">
  readonly inbox: InboxBound
  /** How often what a reply has said is kept; `undefined` where it never is. */
  readonly draftEveryMs: number | undefined
  readonly passivateAfterMs: number
  /** Told when a chat is held no longer. */
  readonly released: (id: string) => void
}

export class ChatDirectory {
  readonly #parts: ChatParts
  readonly #passivation: Passivation<Living>
  readonly #reviving = new Map<string, Promise<ChatPid>>()

  constructor(parts: ChatParts) {
    this.#parts = parts
    this.#passivation = new Passivation(
      parts.system.clock,
      parts.passivateAfterMs,
      (id) => this.#reviving.has(id),
      parts.released
    )
  }

  /** Those that have a process, or are to have one, by their id. */
  get held(): ReadonlyMap<string, Living> {
    return this.#passivation.held
  }

  /** The chat, if anybody has its address. */
  get(id: string): Living | undefined {
    return this.#passivation.get(id)
  }

  /** The chat of this id, with a process behind it. */
  async called(id: string): Promise<ChatRef> {
    const living = this.get(id) ?? this.#made(id)
    const { chat, ref } = living
    chat.touched()
    try {
      await this.#revive(id)
    } catch (error) {
      // Without a process so far, nobody has its address: it never began.
      const isGone = chat.context === undefined && !this.#reviving.has(id) && this.held.get(id) === living
      if (isGone) this.#passivation.forget(id)
      throw error
    }
    return ref
  }

  /** Whether a process of this chat lives, or the store has it. */
  async has(id: string): Promise<boolean> {
    await this.#reviving.get(id)?.catch(() => undefined)
    return this.#parts.tree.whereis(id) !== undefined || (await this.load(id)) !== undefined
  }

  #made(id: string): Living {
    const chat = new LiveChat(id, this.#home, this.#viewOf(id))
    const ref = new ChatRef(chat)
    const living = { chat, ref, handle: handleOf(ref) }
    this.#passivation.hold(id, living)
    return living
  }

  #viewOf(id: string): LiveView {
    const { system, draftEveryMs, chatOptions, tree } = this.#parts
    const keep = (text: string): void => tree.notify({ id, text })
    const drafts = draftEveryMs === undefined ? undefined : new Drafts(system.clock, draftEveryMs, keep)
    return new LiveView(system.clock, chatOptions.permissions?.mode, drafts)
  }

  /** Stops all of them; none is passivated any more. */
  async stopAll(): Promise<void> {
    this.#passivation.stop()
    await Promise.all(this.#passivation.all.map(({ chat }) => chat.stop()))
  }

  readonly #home: ChatHome = {
    inbox: () => this.#parts.inbox,
    options: (id) => {
      const { engine, chatOptions, toolSlots } = this.#parts
      return resolveOptions(engine, { sessionId: id, ...chatOptions }, { toolSlots, chat: this.held.get(id)?.handle })
    },
    hooks: () => this.#parts.chatOptions.hooks,
    revive: (id) => this.#revive(id),
    stop: (id) => this.#end(id),
    newId: () => inputId(this.#parts.system),
    kept: (id, withinMs) => this.#kept(id, withinMs)
  }

  /** The chat's process, started if there is none (TROUPE1). */
  #revive(id: string): Promise<ChatPid> {
    const underWay = this.#reviving.get(id)
    if (underWay !== undefined) return underWay
    return this.#found(id, () => this.#find(id))
  }

  /** Does something while no process of a living chat is started; then one is, whatever came of it (CONV2). */
  async between(id: string, work: () => Promise<void>): Promise<void> {
    for (let underWay = this.#reviving.get(id); underWay !== undefined; underWay = this.#reviving.get(id)) {
      await underWay.catch(() => undefined)
    }
    await this.#found(id, () => work().then(() => this.#find(id)))
  }

  #found(id: string, find: () => Promise<ChatPid>): Promise<ChatPid> {
    this.#passivation.hold(id)
    const reviving = find().finally(() => this.#reviving.delete(id))
    this.#reviving.set(id, reviving)
    return reviving
  }

  /**
   * A process of the tree can end meanwhile, which is started again, and the supervisor after it: then this looks again. No
   * other process of the chat can begin between the load and the start, since every start comes here, once at a time.
   */
  async #find(id: string): Promise<ChatPid> {
    const { tree } = this.#parts
    await outsideTurn()
    for (;;) {
      const alive = tree.whereis(id)
      if (alive !== undefined) return alive
      const chats = await tree.chats()
      if (!this.held.has(id)) throw new SessionError("chat_stopped", `The chat ${id} was stopped while it was started`)
      try {
        const record = await this.load(id)
        checkRecord(id, record)
        let begun = false
        return await DynamicSupervisor.startChild(chats, {
          id,
          restart: "transient",
          start: (parent) => {
            if (begun) return this.#startAgain(id)
            begun = true
            return this.#start(parent, id, record)
          }
        })
      } catch (error) {
        if (error instanceof OtpError.StartIgnored || tree.chatsUp !== chats) continue
        throw error instanceof OtpError.StartFailed ? error.reason : error
      }
    }
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

  #start(parent: Pid, id: string, record: ChatRecord | undefined): ChatPid | "ignore" {
    const { tree, engine, system, suspension, draftEveryMs } = this.#parts
    const chat = this.held.get(id)?.chat
    if (chat === undefined || tree.whereis(id) !== undefined) return "ignore"
    // The tree is being started again, and this supervisor with it: a process here would be ended at once.
    if (tree.chatsUp !== parent) return "ignore"
    const life: { pid?: ChatPid } = {}
    const pid = StateMachine.startLink(parent, chatMachine, {
      input: {
        id,
        engine,
        record: chat.recall(record),
        cutOff: chat.cutOff(record),
        commit: commitsBehind(record, this.#saver(chat), () => chat.conflicted(life.pid)),
        watcher: chat.view,
        clock: system.clock,
        ...suspension
      },
      label: chatLabel(id)
    })
    life.pid = pid
    tree.register(id, pid)
    chat.attached(pid)
    // The store's process need not know any more which entry of the chat is the newest.
    if (draftEveryMs !== undefined) Process.onExit(pid, () => tree.notify({ left: id }))
    return pid
  }

  #saver(chat: LiveChat): Save {
    return (record, after) => chat.keep(() => this.#parts.tree.ask<"save">({ type: "save", record, after }))
  }

  async #end(id: string): Promise<void> {
    await outsideTurn()
    this.#passivation.forget(id)
    const pid = this.#parts.tree.whereis(id)
    if (pid !== undefined) await this.#parts.tree.terminate(pid)
  }

  #kept(id: string, withinMs: number): Promise<ChatRecord | undefined> {
    const { system, tree } = this.#parts
    return new Promise((resolve) => {
      const timer = system.clock.setTimeout(() => resolve(undefined), withinMs)
      const answered = (record: ChatRecord | undefined) => {
        system.clock.clearTimeout(timer)
        resolve(record)
      }
      tree.ask({ type: "load", id }).then(answered, () => answered(undefined))
    })
  }

  /** What the store has of the chat. */
  async load(id: string): Promise<ChatRecord | undefined> {
    try {
      return await this.#parts.tree.ask({ type: "load", id })
    } catch (cause) {
      throw new SessionError("store_failed", `The chat ${id} could not be loaded: ${describe(cause)}; try again`, {
        cause
      })
    }
  }
}

const handleOf = (ref: ChatRef): ChatHandle => ({
  id: ref.id,
  send: async (input, options) => ref.send(input, { whenBusy: "steer", ...options }).receipt
})

const ofTroupe = new WeakMap<object, ChatDirectory>()

/** A Troupe says where it keeps them, for those who observe it: that is not of its public face. */
export const keepsLiving = (troupe: object, chats: ChatDirectory): void => void ofTroupe.set(troupe, chats)

const none: ReadonlyMap<string, Living> = new Map()

/** Those of a Troupe that have a process, or are to have one, by their id. */
export const livingChatsOf = (troupe: object): ReadonlyMap<string, Living> => ofTroupe.get(troupe)?.held ?? none

/** What the process of a chat is shown as. */
const chatLabel = (id: string): string => `Chat ${id}`

const labelBegins = chatLabel("").length

/** The id of the chat that a process is, if it is one. */
export const chatAt = (chats: ReadonlyMap<string, Living>, pid: Pid): string | undefined => {
  const id = pid.label.slice(labelBegins)
  return chats.get(id)?.chat.pid === pid ? id : undefined
}
