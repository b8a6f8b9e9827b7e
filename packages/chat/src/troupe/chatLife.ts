/**
 * The parts of the environment of one process of a chat, its saves, one after the other, and what its background tasks need of
 * it.
 *
 * HOME1. With a home, all writes of a chat name the fence that the chat had when it came into memory. A chat whose fence is no
 *        longer that of its home starts no process, and leaves.
 * HOME2. When the store refuses a write of the chat because of its fence, the chat leaves. So does a chat whose save fails
 *        while `mayAct` returns false. Nothing of the refused write reaches a reader.
 * HOME3. When `mayAct` returns false before a handler, the handler does not start, and the chat leaves. The intent of the
 *        call is in the store, so the next start asks about the call.
 */
import type { Clock, System } from "@troupe/otp"
import { isFenced, ValidationError } from "../errors/index.ts"
import type { Conversation, Entry, InboxEntry } from "../record/index.ts"
import {
  type Accepted,
  type Appending,
  CommitChain,
  type Fence,
  fenceOf,
  type Home,
  type StoreCall
} from "../store/index.ts"
import type { AgentTable, Serving } from "../agents/index.ts"
import { BackgroundTasks, type TaskedChat, type ChildChats } from "../children/index.ts"
import { ChatBlobs } from "../model/index.ts"
import { ignoreRejection, outsideTurn } from "../async/index.ts"
import { Delivery, type Turn } from "../inbox/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { LiveState } from "../view/index.ts"
import type { MemoryChange } from "../compaction/index.ts"
import type { Memories } from "./memories.ts"
import { type ChatPid, type SupervisionTree, type ChatHome, type LiveChat, sendTask } from "../live/index.ts"
import type { WaitedCalls } from "../call/index.ts"
import type { Engine } from "../tool/index.ts"
import * as Store from "../store/Store.ts"

/** The parts of a Troupe that a process of a chat needs. */
interface LifeParts {
  readonly system: System.System
  readonly tree: SupervisionTree
  readonly engine: Engine
  readonly home: Home | undefined
  readonly tasks: BackgroundTasks
  readonly waited: WaitedCalls
  readonly children: ChildChats
  readonly blobs: ChatBlobs | undefined
  readonly memories: Memories
}

export class ChatLife extends CommitChain {
  readonly engine: Engine
  readonly clock: Clock.Clock
  readonly watcher: LiveState
  readonly #chat: LiveChat
  readonly #tree: SupervisionTree
  readonly #home: Home | undefined
  readonly #tasks: BackgroundTasks
  readonly #waited: WaitedCalls
  readonly #children: ChildChats
  readonly #blobs: ChatBlobs | undefined
  readonly #memories: Memories
  pid: ChatPid | undefined

  constructor(
    chat: LiveChat,
    { engine, system, tree, home, tasks, waited, children, blobs, memories }: LifeParts,
    record: Conversation | undefined,
    recalled: Conversation | undefined
  ) {
    super(record)
    this.engine = engine
    this.clock = system.clock
    this.watcher = chat.state
    this.#chat = chat
    this.#tree = tree
    this.#home = home
    this.#tasks = tasks
    this.#waited = waited
    this.#children = children
    this.#blobs = blobs
    this.#memories = memories
    blobs?.loaded(recalled)
    if (record !== undefined) waited.recorded(chat.id, record)
  }

  /** HOME1, CHATBLOB1 */
  protected append(
    entries: ReadonlyArray<Entry>,
    appending: Appending,
    changes: ReadonlyArray<MemoryChange>
  ): Promise<Conversation> {
    const { id, fence } = this.#chat
    const memories = changes.length === 0 ? undefined : { scope: this.#memories.scopeOf(id), changes }
    const write = () => this.#tree.ask<"append">({ type: "append", id, entries, ...appending, fence, memories })
    return this.#blobs?.hasUnstored === true ? this.#blobs.stored().then(write) : write()
  }

  protected load(): Promise<Conversation | undefined> {
    return this.#tree.ask<"load">({ type: "load", id: this.#chat.id })
  }

  override commit(...args: Parameters<CommitChain["commit"]>): Promise<void> {
    return this.#chat.rest.keep(() => super.commit(...args))
  }

  protected saved(record: Conversation): void {
    this.#tasks.recorded(this.#chat.id, record)
    if (this.#waited.chats.size > 0) this.#waited.recorded(this.#chat.id, record)
    this.#children.stored(this.#chat.id)
  }

  /** Stores an input that waits, if the store does not have it. The answer comes also when the process of the chat has ended. */
  accept(input: InboxEntry): Promise<Accepted> {
    return outsideTurn().then(() => this.#chat.accept(input))
  }

  /** The model of an input is a name of the agent that its turn began with. */
  optionsOf({ own, options: { requestId, trace } }: Turn, agent: string | undefined, isFirst: boolean): RunOptions {
    const kept = own === undefined || isFirst ? own : { ...own, model: undefined }
    return { ...this.#chat.options(kept, agent), requestId, trace }
  }

  serving(agent: string | undefined): Serving {
    return this.#chat.serving(agent)
  }

  protected overtaken(): void {
    this.#chat.overtaken(this.pid)
  }

  /** HOME2: the process has ended when the promise resolves, so that it does not handle the error. */
  protected failed(error: unknown): unknown {
    if (isFenced(error) || this.#home?.mayAct(this.#chat.id) === false) return this.#chat.away()
    return error
  }
}

/** HOME3 */
export const mayAct = (home: Home, chat: LiveChat | undefined): boolean => {
  if (chat === undefined || home.mayAct(chat.id)) return chat !== undefined
  ignoreRejection(chat.leave())
  return false
}

/** The blobs of a chat in the store, if the store keeps blobs. */
export const blobsIn = (
  { mostBlobBytes, tree }: { readonly mostBlobBytes: number | undefined; readonly tree: SupervisionTree },
  id: string,
  fence: Fence | undefined
): ChatBlobs | undefined => (mostBlobBytes === undefined ? undefined : new StoredBlobs(tree, id, fence, mostBlobBytes))

class StoredBlobs extends ChatBlobs {
  readonly #tree: SupervisionTree
  readonly #id: string
  readonly #fence: Fence | undefined

  constructor(tree: SupervisionTree, id: string, fence: Fence | undefined, mostBytes: number) {
    super(mostBytes)
    this.#tree = tree
    this.#id = id
    this.#fence = fence
  }

  protected put(blob: string, bytes: Uint8Array): Promise<unknown> {
    return this.#tree.add({ type: "putBlob", id: this.#id, blob, bytes, fence: this.#fence })
  }

  protected get(blob: string): Promise<Uint8Array | undefined> {
    return this.#tree.ask({ type: "readBlob", id: this.#id, blob })
  }
}

/** Stores an input with images or files, after the bytes that it refers to (CHATBLOB1). */
export const acceptFiles = async (
  tree: SupervisionTree,
  blobs: ChatBlobs | undefined,
  call: Extract<StoreCall, { readonly type: "accept" }>
): Promise<Accepted> => {
  blobs?.hold(call.input.message.content)
  await blobs?.stored()
  return tree.add<"accept">(call)
}

/** The parts of a directory that background tasks need. */
interface TasksParts extends Pick<LifeParts, "system" | "tree" | "home"> {
  readonly agents: AgentTable
  readonly maxTasks: number
  readonly suspension: { readonly suspendedTtlMs?: number | undefined }
}

/** The chats of a directory. */
interface Chats {
  readonly home: Pick<ChatHome, "options">
  readonly get: (id: string) => { readonly chat: LiveChat } | undefined
  readonly called: (id: string) => Promise<unknown>
}

/** The background tasks of the chats of a directory. */
export const tasksOf = (
  { system, tree, home, agents, maxTasks, suspension }: TasksParts,
  chats: Chats,
  children: ChildChats
): BackgroundTasks =>
  new BackgroundTasks({
    clock: system.clock,
    maxTasks,
    suspendedTtlMs: suspension.suspendedTtlMs === Infinity ? undefined : suspension.suspendedTtlMs,
    supervisor: () => tree.tasks(),
    options: (id, agent) => chats.home.options(id, undefined, agent),
    subagent: agents.isEmpty ? undefined : (id, call, under) => children.run(id, call, under),
    called: (id) => chats.called(id),
    keep: (id, input) => tree.add<"accept">({ type: "accept", id, input, fence: fenceOf(home, id) }),
    living: (id) => taskedChat(chats.get(id)?.chat)
  })

/** A chat, as its background tasks use it. An input that is known is not sent again; one that is held is released (BG1). */
const taskedChat = (chat: LiveChat | undefined): TaskedChat | undefined =>
  chat && {
    context: chat.context,
    report: (message, id) => {
      const turn = chat.known(id) ?? chat.start([message], { delivery: new Delivery("steer", id) })
      return turn.receipt
    },
    note: (task) => chat.asked((process) => sendTask(chat.id, process, task)),
    changed: (tasks) => {
      chat.view.tasks = tasks
      chat.view.shownChanged()
      chat.view.state.changed()
    }
  }

/** Throws a `ValidationError` for a home over a store that has no fences. */
export const checkHome = (home: Home | undefined, store: Store.Store): void => {
  if (home === undefined || Store.isSessionStore(store)) return
  const reason = "must_be_a store with a log, such as postgres(url), when there is a home"
  throw new ValidationError("invalid_options", [{ field: ["store"], reason }])
}

/** How many ids are tried; with 4,096 buckets, a home of few of them finds one sooner. */
const mostIds = 100_000

/** An id for a new conversation whose home is this program; any id if there is none. */
export const idAtHome = (home: Home | undefined, newId: () => string): string => {
  let id = newId()
  if (home === undefined) return id
  for (let tried = 1; tried < mostIds && home.fenceOf(id) === undefined; tried++) id = newId()
  return id
}

/** Whether the newest stored entry has another number. Only its home writes a chat of a cluster, so such a chat is not read. */
export const hasOther = async (
  { home, tree }: { readonly home: Home | undefined; readonly tree: SupervisionTree },
  id: string,
  version: number
): Promise<boolean> => {
  if (home !== undefined || !tree.hasLog) return false
  const options = { after: Math.max(0, version - 1), limit: 2 }
  try {
    const entries = await tree.ask({ type: "history", id, options })
    return version === 0 ? entries.length > 0 : entries.length !== 1
  } catch {
    // The store fails: what the program has is shown.
    return false
  }
}
