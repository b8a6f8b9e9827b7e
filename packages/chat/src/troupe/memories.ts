/**
 * The memories of a Troupe: whose they are, and how programs and tools use them.
 *
 * Owns: nothing; the store has the memories.
 */
import { reportFault } from "../async/index.ts"
import { memoryScope, recallOptions, type MemoryList, type MemoryListOptions } from "../store/index.ts"
import type { Hooks } from "../gate/index.ts"
import type { SupervisionTree } from "../live/index.ts"
import { type Memory, recalledMessage, remembering } from "../compaction/index.ts"
import { rootOf } from "../record/index.ts"
import * as Store from "../store/Store.ts"
import type { ChatMemories } from "../tool/index.ts"
import type { System } from "@troupe/otp"

/** How a Troupe remembers. */
export interface MemoryOptions {
  /**
   * Whose memories a chat uses. Default: the beginning of its id up to the first slash, which on a server is the owner; an id without a
   * slash is a scope of its own.
   *
   * **Contract**: synchronous. It gets the id of a chat that a user began, and on a server also the beginning of the ids of an owner.
   */
  readonly scope?: ((chat: string) => string) | undefined
  /** How many memories that fit an input of a person follow it in the thread. Default: 0. */
  readonly recall?: number | undefined
  /**
   * Orders the memories for a query, for example by their vectors. Default: the full text search of the store.
   *
   * **Contract**: gets all memories of the scope, at most 1,000, and returns those that fit, the best first. Others are ignored.
   */
  readonly rank?:
    | ((query: string, memories: ReadonlyArray<Memory>) => ReadonlyArray<Memory> | Promise<ReadonlyArray<Memory>>)
    | undefined
}

/** The memories of a Troupe, for its program: each scope has its own. */
export class Memories {
  readonly #ask: SupervisionTree["ask"]
  readonly #system: System.System
  readonly #options: MemoryOptions
  readonly #isKept: boolean

  constructor(tree: SupervisionTree, system: System.System, store: Store.Store, options: MemoryOptions = {}) {
    this.#ask = (call) => tree.ask(call)
    this.#system = system
    this.#options = options
    this.#isKept = Store.isSessionStore(store) && store.memories !== undefined
  }

  /** The scope of a chat, by its id. */
  scopeOf(chat: string): string {
    const root = rootOf(chat)
    return memoryScope(this.#options.scope?.(root) ?? (root.slice(0, root.indexOf("/") + 1) || root))
  }

  /**
   * Adds a memory to a scope. With an `id` that the scope has, or has forgotten in the last 30 days, nothing changes.
   *
   * **Errors**: rejects with a `SessionError` (`store_without_memories`, `store_without_log`, `store_failed`); with a `ValidationError`
   * (`invalid_options`) for a text of more than 2,000 characters.
   */
  async remember(scope: string, id: string, text: string): Promise<void> {
    await this.#ask({ type: "changeMemories", scope: memoryScope(scope), changes: [remembering(id, text)] })
  }

  /** Removes a memory. **Errors**: as for {@link remember}. */
  async forget(scope: string, id: string): Promise<void> {
    await this.#ask({ type: "changeMemories", scope: memoryScope(scope), changes: [{ type: "forget", id }] })
  }

  /** The memories that fit a query, the best first: at most `limit`, 5 by default. **Errors**: as for {@link remember}. */
  async recall(scope: string, query: string, limit = 5): Promise<ReadonlyArray<Memory>> {
    const { rank } = this.#options
    if (rank === undefined) return this.#ask({ type: "recall", scope, options: { query, limit } })
    recallOptions(scope, { query, limit })
    const all = await this.#ask({ type: "listMemories", scope, options: { limit: 1_000 } })
    const byId = new Map(all.memories.map((memory) => [memory.id, memory]))
    const ranked = await rank(query, all.memories)
    return Array.from(new Set(ranked.flatMap(({ id }) => byId.get(id) ?? []))).slice(0, limit)
  }

  /** A page of the memories of a scope, the newest first. **Errors**: as for {@link remember}. */
  list(scope: string, options?: MemoryListOptions): Promise<MemoryList> {
    return this.#ask({ type: "listMemories", scope, options })
  }

  /** The memories of a chat, for its tools; `undefined` if the store keeps none. */
  of(chat: string, turn: () => string | undefined): ChatMemories | undefined {
    if (!this.#isKept) return undefined
    return { turn, recall: async (query, limit) => this.recall(this.scopeOf(chat), query, limit) }
  }

  /** The options with a hook that recalls what fits an input. When the recall fails, the turn goes on without. */
  recalling<Options extends { readonly hooks?: Hooks | undefined }>(chat: string, options: Options): Options {
    const { recall = 0 } = this.#options
    if (recall === 0) return options
    const { hooks } = options
    const prompted: NonNullable<Hooks["UserPromptSubmit"]>[number] = async ({ prompt }) => {
      try {
        const found = await this.recall(this.scopeOf(chat), prompt, recall)
        return found.length === 0 ? undefined : { type: "inject", messages: recalledMessage(found) }
      } catch (error) {
        reportFault(this.#system, `The memories of the chat ${chat} could not be recalled`, error)
        return undefined
      }
    }
    return { ...options, hooks: { ...hooks, UserPromptSubmit: [prompted, ...(hooks?.UserPromptSubmit ?? [])] } }
  }
}
