/**
 * The process that guards the store.
 *
 * STORE1. Operations on one chat are done one after another, in the order asked; those on different chats at the same time.
 * STORE2. A store that fails is the asking chat's trouble: the process answers with the failure and goes on.
 */
import { GenServer } from "@troupe/otp"
import type { ChatRecord } from "../ChatRecord.ts"
import type { Store } from "../Store.ts"
import { isPromiseLike } from "./awaitable.ts"

/** What the store's process is asked. */
export type StoreCall =
  | { readonly type: "load"; readonly id: string }
  | { readonly type: "save"; readonly record: ChatRecord }
  | { readonly type: "delete"; readonly id: string }

/** What it answers: the record, where one was asked for, or what the store threw. */
export type StoreAnswer = { readonly record: ChatRecord | undefined } | { readonly error: unknown }

/** The address of the store's process. */
export type StoreServer = GenServer.Server<StoreCall, StoreAnswer>

interface Guarded {
  readonly store: Store
  /** The last operation under way on each chat. */
  readonly busy: Map<string, Promise<void>>
}

const perform = (store: Store, call: StoreCall): unknown => {
  switch (call.type) {
    case "load":
      return store.load(call.id)
    case "save":
      return store.save(call.record)
    case "delete":
      return store.delete(call.id)
  }
}

const answer = (done: unknown): StoreAnswer => ({ record: (done ?? undefined) as ChatRecord | undefined })

/** What the store answers, now or later; its failure is an answer. */
const attempt = (store: Store, call: StoreCall): StoreAnswer | Promise<StoreAnswer> => {
  try {
    const done = perform(store, call)
    return isPromiseLike(done) ? Promise.resolve(done).then(answer, (error: unknown) => ({ error })) : answer(done)
  } catch (error) {
    return { error }
  }
}

const follow = async ({ busy }: Guarded, id: string, operation: Promise<void>): Promise<void> => {
  busy.set(id, operation)
  await operation
  if (busy.get(id) === operation) busy.delete(id)
}

export const storeServer = GenServer.make({
  label: "Store",
  init: (store: Store) => GenServer.ok<Guarded>({ store, busy: new Map() }),
  handleCall: (call: StoreCall, from: GenServer.From<StoreAnswer>, state: Guarded) => {
    const id = call.type === "save" ? call.record.id : call.id
    const before = state.busy.get(id)
    const answering = before === undefined ? attempt(state.store, call) : before.then(() => attempt(state.store, call))
    if (!(answering instanceof Promise)) return GenServer.replying(answering, state)
    void follow(
      state,
      id,
      answering.then((answered) => GenServer.reply(from, answered))
    )
    return GenServer.noreply(state)
  }
})
