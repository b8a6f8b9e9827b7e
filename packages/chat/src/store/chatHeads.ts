/**
 * The number of the newest entry of each chat, the drafts that follow it, and the sweep of expired conversations.
 *
 * Owns: those numbers, and the drafts that the store is saving. Does not own when a draft is due (`Drafts`), nor the order
 * of the store's operations (`storeServer.ts`).
 *
 * STORE6. A draft is saved after the operations requested before it, with the number of the entry that it follows; no
 *         operation waits for it. A late draft has the number of an older entry, and the store drops it.
 * STORE9. For chats without a process only the operations that the store has not answered are kept.
 * STORE8. When conversations have a time to live, expired ones are deleted every minute, except those that are live or have
 *         background tasks here, and those whose home is another program.
 *         After a failure the next minute tries again.
 */
import type { Conversation } from "../record/index.ts"
import { isPromiseLike, inBackground } from "../async/index.ts"
import { idOf, type StoreCall } from "./storeCall.ts"
import type { Fence, SessionStore, Store } from "./sessionStore.ts"
import { type Pid, Process, type System } from "@troupe/otp"

/** The text of a reply so far. */
export interface Draft {
  readonly id: string
  readonly text: string
  readonly fence?: Fence | undefined
}

export class NewestEntries {
  readonly #store: Store
  readonly #isLiving: (id: string) => boolean
  readonly #failed: (id: string, error: unknown) => void
  readonly #numbers = new Map<string, number>()
  /** For each chat with a draft in the store, the next draft that waits. */
  readonly #drafting = new Map<
    string,
    { waiting: (Draft & { readonly after: number }) | undefined; readonly settled: Promise<void> }
  >()

  /** `isLiving` is whether a chat is live here; numbers are kept for live chats only. `failed` gets the error of a draft. */
  constructor(store: Store, isLiving: (id: string) => boolean, failed: (id: string, error: unknown) => void) {
    this.#store = store
    this.#failed = failed
    this.#isLiving = isLiving
  }

  get numbers(): ReadonlyMap<string, number> {
    return this.#numbers
  }

  /** Called when the store has finished an operation: keeps the number of the newest entry, if the result has one. */
  done(call: StoreCall, value: unknown): void {
    const id = idOf(call)
    const number: unknown =
      call.type === "load" || call.type === "rewind" || call.type === "append"
        ? (value as Conversation | undefined)?.version
        : undefined
    if (call.type === "delete") this.forget(id)
    else if (typeof number === "number" && this.#isLiving(id)) {
      this.#numbers.set(id, Math.max(number, this.#numbers.get(id) ?? 0))
    }
  }

  forget(id: string): void {
    this.#numbers.delete(id)
  }

  /** Saves a draft after the newest entry, while the store's process is alive. */
  keep(draft: Draft, isGuarded: () => boolean): void {
    const after = this.#numbers.get(draft.id)
    if (after !== undefined) this.#give({ ...draft, after }, isGuarded)
  }

  /** Resolves when the store is saving no draft of the chat. */
  async drafted(id: string): Promise<void> {
    for (let given = this.#drafting.get(id); given !== undefined; given = this.#drafting.get(id)) await given.settled
  }

  #give(draft: Draft & { readonly after: number }, isGuarded: () => boolean): void {
    const store = this.#store
    const { id, text, after, fence } = draft
    if (!takesDrafts(store) || !isGuarded()) return
    const given = this.#drafting.get(id)
    if (given !== undefined) return void (given.waiting = draft)
    try {
      const kept = store.keepDraft(id, text, after, fence)
      if (!isPromiseLike(kept)) return
      const settle = () => {
        const next = this.#drafting.get(id)?.waiting
        this.#drafting.delete(id)
        if (next !== undefined && next.after === this.#numbers.get(id)) this.#give(next, isGuarded)
      }
      const failed = (error: unknown): void => {
        this.#failed(id, error)
        settle()
      }
      this.#drafting.set(id, { waiting: undefined, settled: Promise.resolve(kept).then(settle, failed) })
    } catch (error) {
      // A failed draft does not end the turn (DRAFT2): the next draft has the text again.
      this.#failed(id, error)
    }
  }
}

/** Whether a store saves drafts. */
export const takesDrafts = (store: Store): store is Store & Pick<SessionStore, "keepDraft"> =>
  "keepDraft" in store && typeof store.keepDraft === "function"

/** The message of the store's process to itself that a minute is over. */
export interface Sweep {
  readonly sweep: true
}

const sweepEveryMs = 60_000

/** The timer of a sweep does not keep the program alive. */
export const awaitSweep = (guard: Pid<Sweep>, { clock }: System.System): void => {
  const due = (): void => {
    forget()
    Process.send(guard, { sweep: true })
  }
  const timer = inBackground(clock, due, sweepEveryMs)
  const forget = Process.onExit(guard, () => clock.clearTimeout(timer))
}

/** Deletes the expired conversations with `expire`, and awaits the next minute; calls `failed` when the store fails. */
export const sweep = (
  guard: Pid<Sweep>,
  system: System.System,
  expire: () => unknown,
  failed: (error: unknown) => void
): void => {
  awaitSweep(guard, system)
  try {
    Promise.resolve(expire()).catch(failed)
  } catch (error) {
    failed(error)
  }
}
