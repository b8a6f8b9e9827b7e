/**
 * The process that guards the store: one operation at a time, in the order asked.
 *
 * A store that fails is the asking chat's trouble: the process answers with the failure and goes on.
 */
import { GenServer } from "@troupe/otp"
import type { ChatRecord } from "../ChatRecord.ts"
import type { Store } from "../Store.ts"

/** What the store's process is asked. */
export type StoreCall =
  | { readonly type: "load"; readonly id: string }
  | { readonly type: "save"; readonly record: ChatRecord }
  | { readonly type: "delete"; readonly id: string }

/** What it answers: the record, where one was asked for, or what the store threw. */
export type StoreAnswer = { readonly record: ChatRecord | undefined } | { readonly error: unknown }

/** The address of the store's process. */
export type StoreServer = GenServer.Server<StoreCall, StoreAnswer>

const perform = (store: Store, call: StoreCall): Awaitable<ChatRecord | undefined | void> => {
  switch (call.type) {
    case "load":
      return store.load(call.id)
    case "save":
      return store.save(call.record)
    case "delete":
      return store.delete(call.id)
  }
}

type Awaitable<A> = A | Promise<A>

export const storeServer = GenServer.make({
  label: "Store",
  init: (store: Store) => GenServer.ok(store),
  handleCall: (call: StoreCall, _from: GenServer.From<StoreAnswer>, store: Store) => {
    const answer = (record: ChatRecord | undefined | void) => GenServer.replying({ record: record ?? undefined }, store)
    const failure = (error: unknown) => GenServer.replying({ error }, store)
    try {
      const done = perform(store, call)
      return done instanceof Promise ? done.then(answer, failure) : answer(done)
    } catch (error) {
      return failure(error)
    }
  }
})
