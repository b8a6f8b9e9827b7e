/** The process that guards the store: one operation at a time, in the order asked. */
import { GenServer } from "@troupe/otp"
import type { ChatRecord } from "../ChatRecord.ts"
import type { Store } from "../Store.ts"

/** What the store's process is asked. */
export type StoreCall =
  | { readonly type: "load"; readonly id: string }
  | { readonly type: "save"; readonly record: ChatRecord }
  | { readonly type: "delete"; readonly id: string }

/** The address of the store's process. */
export type StoreServer = GenServer.Server<StoreCall, ChatRecord | undefined>

const perform = (
  store: Store,
  call: StoreCall
): ChatRecord | undefined | void | Promise<ChatRecord | undefined | void> => {
  switch (call.type) {
    case "load":
      return store.load(call.id)
    case "save":
      return store.save(call.record)
    case "delete":
      return store.delete(call.id)
  }
}

export const storeServer = GenServer.make({
  label: "Store",
  init: (store: Store) => GenServer.ok(store),
  handleCall: (call: StoreCall, _from: GenServer.From<ChatRecord | undefined>, store: Store) => {
    const done = perform(store, call)
    return done instanceof Promise
      ? done.then((record) => GenServer.replying(record ?? undefined, store))
      : GenServer.replying(done ?? undefined, store)
  }
})
