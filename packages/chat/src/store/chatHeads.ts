/**
 * Which entry of each chat is the newest, and the drafts that are kept behind it.
 *
 * Owns: those numbers, and the drafts that the store was given and has not taken. Does not own when one is due (`Drafts`), nor
 * the order of what the store is asked (`storeServer.ts`).
 *
 * STORE6. A draft is begun behind what was asked before it, and says which entry it is behind; nothing waits for it. One that
 *         comes late is of an entry that is no longer the newest, and the store drops it.
 * STORE9. Nothing is known of chats without a process, but for what the store was asked and has not answered.
 */
import type { ChatRecord } from "../record/index.ts"
import { isPromiseLike } from "../async/index.ts"
import { idOf, type StoreCall } from "./storeCall.ts"
import type { Saved, SessionStore, Store } from "./sessionStore.ts"

/** What a reply has said so far. */
export interface Draft {
  readonly id: string
  readonly text: string
}

interface DraftBehind extends Draft {
  readonly after: number
}

export class NewestEntries {
  readonly #store: Store
  readonly #isLiving: (id: string) => boolean
  readonly #numbers = new Map<string, number>()
  /** The one that waits behind the draft that each chat's store was given. */
  readonly #drafting = new Map<string, { waiting: DraftBehind | undefined }>()

  /** `isLiving` says which chats live here: of no others anything is known. */
  constructor(store: Store, isLiving: (id: string) => boolean) {
    this.#store = store
    this.#isLiving = isLiving
  }

  get numbers(): ReadonlyMap<string, number> {
    return this.#numbers
  }

  /** The store has done what it was asked; where it numbers its entries, that says which is the newest. */
  done(call: StoreCall, value: unknown): void {
    const id = idOf(call)
    const number: unknown =
      call.type === "load" || call.type === "rewind"
        ? (value as ChatRecord | undefined)?.version
        : call.type === "save"
          ? (value as Saved | undefined)?.seq
          : undefined
    if (call.type === "delete") this.forget(id)
    else if (typeof number === "number" && this.#isLiving(id)) {
      this.#numbers.set(id, Math.max(number, this.#numbers.get(id) ?? 0))
    }
  }

  forget(id: string): void {
    this.#numbers.delete(id)
  }

  /** Has a draft kept behind the newest entry, while there is a process to see to it. */
  keep(draft: Draft, isGuarded: () => boolean): void {
    const after = this.#numbers.get(draft.id)
    if (after !== undefined) this.#give({ ...draft, after }, isGuarded)
  }

  #give(draft: DraftBehind, isGuarded: () => boolean): void {
    const store = this.#store
    const { id, text, after } = draft
    if (!takesDrafts(store) || !isGuarded()) return
    const given = this.#drafting.get(id)
    if (given !== undefined) return void (given.waiting = draft)
    try {
      const kept = store.keepDraft(id, text, after)
      if (!isPromiseLike(kept)) return
      this.#drafting.set(id, { waiting: undefined })
      const settled = () => {
        const next = this.#drafting.get(id)?.waiting
        this.#drafting.delete(id)
        if (next !== undefined && next.after === this.#numbers.get(id)) this.#give(next, isGuarded)
      }
      Promise.resolve(kept).then(settled, settled)
    } catch {
      // What a reply has said is not worth its turn (DRAFT2): the next draft says it again.
    }
  }
}

/** Whether a store takes what a reply has said so far. */
export const takesDrafts = (store: Store): store is Store & Pick<SessionStore, "keepDraft"> =>
  "keepDraft" in store && typeof store.keepDraft === "function"
