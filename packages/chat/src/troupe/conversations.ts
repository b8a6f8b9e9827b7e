/**
 * The operations of a Troupe on whole conversations: history, fork, rewind and list.
 *
 * Owns: nothing. Does not own the live chats, nor the store; calls the store's process.
 *
 * CONV1. A read of a chat comes after all saves that the chat had requested.
 * CONV2. A live chat is rewound between two turns: its process ends, the store is rewound, and the next process starts from
 *        the result. No other process of the chat starts in between.
 * SUB6. Only its call uses the conversation of a sub-agent; anyone reads it. A deletion, a rewind and a fork into it are refused. The
 *       deletion of its root removes it.
 */
import { againAfter, refused, SessionError, ValidationError } from "../errors/index.ts"
import { checkId, checkNames, checkOwnId, type LiveChat } from "../live/index.ts"
import {
  type FoundMessage,
  type SearchOptions,
  searchOptions,
  type ChatList,
  type Commit,
  type Fence,
  type HistoryOptions,
  type ListOptions,
  type StoreCall,
  type StoreValues,
  type WaitList,
  type WaitOptions
} from "../store/index.ts"
import { type ChatBlobs, type ThreadInput, unpaired } from "../model/index.ts"
import { type AgentRef, childId, type Conversation, saved } from "../record/index.ts"
import { ignoreRejection } from "../async/index.ts"
import * as Session from "../session/Session.ts"
import { describe } from "../values/index.ts"

/** Where a fork begins, and what it becomes. */
export interface ForkOptions {
  /** The entry at which the fork begins. Default: the newest entry without an open step. */
  readonly at?: number | undefined
  /** The id of the new conversation. Default: a generated one. */
  readonly id?: string | undefined
  /** The name of the agent of the new conversation. Default: that of the entry. */
  readonly agent?: string | undefined
}

/** The id and the agent of a new conversation. */
export type BeginOptions = Pick<ForkOptions, "id" | "agent">

/** How a rewind treats a running turn. */
export interface RewindOptions {
  /** Whether the rewind cancels a running turn. Default: `false`, the rewind is refused with `busy`. */
  readonly cancel?: boolean | undefined
}

/** Calls the store's process. */
type AskStore = <Type extends StoreCall["type"]>(
  call: Extract<StoreCall, { readonly type: Type }>
) => Promise<StoreValues[Type]>

/** The functions that this needs from the Troupe. */
export interface ConversationsHome {
  readonly ask: AskStore
  readonly living: (id: string) => LiveChat | undefined
  /** Runs `work` while no process of the chat is started, and starts one afterwards. */
  readonly between: (id: string, work: () => Promise<void>) => Promise<void>
  readonly newId: () => string
  /** Called with the record of a conversation that was rewound while it had no chat in memory. */
  readonly rewound: (record: Conversation) => void
  /** Whether conversations can have children: with agents, and a store that lists them. */
  readonly hasChildren: boolean
  /** The agent of a new conversation, which the caller may give. Throws for an unknown name. */
  readonly agentOf: (name: string | undefined) => AgentRef | undefined
  /** The blobs of a conversation, if the store keeps blobs. */
  readonly blobs: (id: string, fence: Fence | undefined) => ChatBlobs | undefined
  /** The blobs of a chat in memory. */
  readonly livingBlobs: (id: string) => ChatBlobs | undefined
  /** The fence of a write that is requested now. Throws when this program is not the home of the conversation. */
  readonly fence: (id: string) => Fence | undefined
}

export class Conversations {
  readonly #home: ConversationsHome

  constructor(home: ConversationsHome) {
    this.#home = home
  }

  async history(id: string, options: HistoryOptions | undefined): Promise<ReadonlyArray<Commit>> {
    checkId(id)
    checkNames(options, ["after", "limit"])
    return this.#asked({ type: "history", id, options })
  }

  async at(id: string, seq: number): Promise<Conversation | undefined> {
    checkId(id)
    if (!Number.isSafeInteger(seq) || seq < 0) throw invalid("seq", "must_be_the number of an entry, as history has it")
    return this.#asked({ type: "at", id, seq })
  }

  /** The conversations of sub-agents go first, so that none is left without the one that it belongs to. */
  async delete(id: string): Promise<void> {
    const fence = this.#home.fence(id)
    if (this.#home.hasChildren) await this.#deleteChildren(id, fence)
    await this.#asked({ type: "delete", id, fence })
  }

  /** Deletes the listed ones, and those that a list may not have yet because they are being saved for the first time. */
  async #deleteChildren(id: string, fence: Fence | undefined): Promise<void> {
    const prefix = childId(id, "")
    for (const child of await this.#asked({ type: "underWay", prefix })) {
      await this.#asked({ type: "delete", id: child, fence })
    }
    for (let isLast = false; !isLast;) {
      const { chats, next } = await this.#asked({ type: "list", options: { prefix } })
      for (const child of chats) await this.#asked({ type: "delete", id: child.id, fence })
      isLast = next === undefined
    }
  }

  async list(options: ListOptions | undefined): Promise<ChatList> {
    checkNames(options, ["prefix", "search", "running", "bucket", "children", "limit", "after"])
    return this.#asked({ type: "list", options })
  }

  /** Messages of stored conversations. Rejects like {@link list}. */
  search(options: SearchOptions): Promise<ReadonlyArray<FoundMessage>> {
    return this.#asked({ type: "search", options: searchOptions(options) })
  }

  async waiting(options: WaitOptions | undefined): Promise<WaitList> {
    checkNames(options, ["owner", "kind", "agent", "limit", "after"])
    try {
      return await this.#asked({ type: "waiting", options })
    } catch (error) {
      const hasNoLog = error instanceof SessionError && error.reason === "store_without_log"
      throw hasNoLog ? refused("store_without_waiting", "") : error
    }
  }

  /** Creates the fork, and returns its id. */
  async fork(id: string, options: ForkOptions): Promise<string> {
    checkId(id)
    checkNames(options, ["at", "id", "agent"])
    const { at, id: to = this.#home.newId(), agent } = options
    checkOwnId(to)
    if (at !== undefined && !(Number.isSafeInteger(at) && at > 0)) {
      throw invalid("at", "must_be_the number of an entry, 1 or more; an empty conversation is troupe.chat(id)")
    }
    if (agent !== undefined) this.#home.agentOf(agent)
    if (this.#home.living(to) !== undefined) throw refused("chat_exists", to)
    await this.#asked({ type: "fork", id, to, at, fence: this.#home.fence(to) })
    return to
  }

  /** Stores a new conversation with this thread, and returns its id. */
  async begin(thread: ThreadInput, options: BeginOptions): Promise<string> {
    checkNames(options, ["id", "agent"])
    const { id = this.#home.newId() } = options
    checkOwnId(id)
    const agent = this.#home.agentOf(options.agent)
    const made = Session.make({ id, thread })
    const record = agent === undefined ? made : { ...made, agent }
    const unfit = unpaired(record.thread)
    if (unfit !== undefined) throw unfit
    const known = this.#home.living(id) !== undefined || (await this.#asked({ type: "load", id })) !== undefined
    if (known) throw refused("chat_exists", id)
    const fence = this.#home.fence(id)
    const entries = [saved(await this.#withBlobs(record, fence))]
    await this.#asked({ type: "append", id, entries, after: 0, fence })
    return id
  }

  /** The record with references, whose bytes the store has (CHATBLOB1). */
  async #withBlobs(record: Conversation, fence: Fence | undefined): Promise<Conversation> {
    const blobs = this.#home.blobs(record.id, fence)
    if (blobs === undefined || record.thread.messages.every(({ content }) => typeof content === "string")) return record
    const messages = record.thread.messages.map((message) => blobs.keptMessage(message))
    await blobs.stored()
    return { ...record, thread: { ...record.thread, messages } }
  }

  /** The bytes of a blob that the store has, or a live chat that has not stored them yet (CHATBLOB1). */
  async blob(id: string, blob: string): Promise<Uint8Array | undefined> {
    checkId(id)
    if (typeof blob !== "string" || !/^[0-9a-f]{64}$/.test(blob)) {
      throw invalid("blob", "must_be_the id of a blob, 64 hexadecimal digits, as a message refers to it")
    }
    const living = this.#home.livingBlobs(id)
    return living?.hasUnstored === true ? living.read(blob) : this.#asked({ type: "readBlob", id, blob })
  }

  /** The bytes of the blobs of the conversations whose ids begin with a prefix; `undefined` if the store keeps no blobs. */
  async fileBytes(prefix: string): Promise<number | undefined> {
    if (typeof prefix !== "string") throw invalid("prefix", "must_be_a_text, with which the ids begin")
    return this.#asked({ type: "sizeOfBlobs", prefix })
  }

  async rewind(id: string, seq: number, options: RewindOptions): Promise<Conversation> {
    checkOwnId(id)
    checkNames(options, ["cancel"])
    if (typeof seq !== "number")
      throw invalid("seq", "must_be_the number of an entry, from history; 0 is the beginning")
    const { cancel = false } = options
    if (typeof cancel !== "boolean") throw invalid("cancel", "must_be_a_boolean")
    const chat = this.#home.living(id)
    if (chat === undefined) {
      const record = await this.#asked({ type: "rewind", id, seq, fence: this.#home.fence(id) })
      this.#home.rewound(record)
      return record
    }
    await this.#checkStep(id, seq)
    const { promise, resolve, reject } = Promise.withResolvers<Conversation>()
    ignoreRejection(promise)
    await this.#home.between(id, async () => {
      try {
        await chat.endBetweenTurns(cancel)
        resolve(await this.#asked({ type: "rewind", id, seq, fence: chat.fence }))
      } catch (error) {
        reject(error)
      }
    })
    return promise
  }

  /** Checks the entry first, so that a rewind that will be refused does not end the chat's process. */
  async #checkStep(id: string, seq: number): Promise<void> {
    if (seq === 0) return
    const isNumber = Number.isSafeInteger(seq) && seq > 0
    const [commit] = await this.history(id, { after: isNumber ? seq - 1 : 0, limit: 1 })
    if (commit === undefined || !isNumber) throw refused("unknown_commit", id, seq)
    if (!commit.isStep) throw refused("not_a_step", id, seq)
  }

  async #asked<Type extends StoreCall["type"]>(
    call: Extract<StoreCall, { readonly type: Type }>
  ): Promise<StoreValues[Type]> {
    try {
      return await this.#home.ask<Type>(call)
    } catch (cause) {
      if (cause instanceof SessionError || cause instanceof ValidationError) throw cause
      throw new SessionError("store_failed", `The store could not be asked: ${describe(cause)}${againAfter(cause)}`, {
        cause
      })
    }
  }
}

const invalid = (field: string, reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field: [field], reason }])
