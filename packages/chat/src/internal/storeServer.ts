/**
 * The process that guards the store.
 *
 * STORE1. Operations on one chat are done one after another, in the order asked; those on different chats at the same time.
 * STORE2. A store that fails is the asking chat's trouble: the process answers with the failure and goes on.
 * STORE3. An operation holds up the next one for as long as a caller waits, and no longer.
 * STORE4. When a write comes back that held up nobody any more, the newest one kept meanwhile is done again: what the store
 *         has in the end is what was asked last.
 */
import { GenServer, type Pid, Timer } from "@troupe/otp"
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

/** It tells itself that an operation takes too long. */
interface Overdue {
  readonly giveUp: () => void
}

/** The address of the store's process. */
export type StoreServer = GenServer.Server<StoreCall, StoreAnswer>

/** The writes of a chat that nobody waits for any longer, and the newest that was kept since. */
interface Late {
  count: number
  newest: StoreCall | undefined
}

interface Guarded {
  readonly store: Store
  /** The last operation on each chat: resolves when the next may begin. */
  readonly busy: Map<string, Promise<void>>
  readonly late: Map<string, Late>
}

/** As long as `GenServer.call` waits. */
const callerWaitsMs = 5_000

const idOf = (call: StoreCall): string => (call.type === "save" ? call.record.id : call.id)

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
const attempt = ({ store }: Guarded, call: StoreCall): StoreAnswer | Promise<StoreAnswer> => {
  try {
    const done = perform(store, call)
    return isPromiseLike(done) ? Promise.resolve(done).then(answer, (error: unknown) => ({ error })) : answer(done)
  } catch (error) {
    return { error }
  }
}

/** A write was kept, and is newer than those that are late. */
const noteKept = ({ late }: Guarded, call: StoreCall, answered: StoreAnswer): void => {
  if (late.size === 0 || call.type === "load" || "error" in answered) return
  const waited = late.get(idOf(call))
  if (waited !== undefined) waited.newest = call
}

/** Begins when the one before is over; over when it is done, or when it has held up the next for too long (STORE3). */
const follow = (
  state: Guarded,
  self: Pid<Overdue>,
  call: StoreCall,
  begin: () => StoreAnswer | Promise<StoreAnswer>,
  answered: (answer: StoreAnswer) => void
): void => {
  const id = idOf(call)
  const before = state.busy.get(id)
  const run = async (): Promise<void> => {
    if (before !== undefined) await before
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = Timer.sendAfter(self, { giveUp: resolve }, callerWaitsMs)
    let late: Late | undefined
    const settled = Promise.resolve(begin()).then((outcome) => {
      Timer.cancel(timer)
      answered(outcome)
      if (late === undefined) noteKept(state, call, outcome)
      else cameBack(state, self, id, late)
      return true
    })
    const isSettled = await Promise.race([settled, promise])
    if (isSettled !== true && call.type !== "load") late = isLate(state, id)
  }
  const release = async (): Promise<void> => {
    await run()
    if (state.busy.get(id) === operation) state.busy.delete(id)
  }
  const operation = release()
  state.busy.set(id, operation)
}

const isLate = ({ late }: Guarded, id: string): Late => {
  const waited = late.get(id) ?? { count: 0, newest: undefined }
  waited.count += 1
  late.set(id, waited)
  return waited
}

/** STORE4, once nothing is under way that may be newer. */
const cameBack = (state: Guarded, self: Pid<Overdue>, id: string, late: Late): void => {
  const again = (): StoreAnswer | Promise<StoreAnswer> => {
    late.count -= 1
    if (late.count === 0) state.late.delete(id)
    return late.newest === undefined ? answer(undefined) : attempt(state, late.newest)
  }
  follow(state, self, late.newest ?? { type: "load", id }, again, () => {})
}

export const storeServer = GenServer.make({
  label: "Store",
  init: (store: Store) => GenServer.ok<Guarded>({ store, busy: new Map(), late: new Map() }),
  handleCall: (call: StoreCall, from: GenServer.From<StoreAnswer>, state: Guarded, self: Pid<Overdue>) => {
    const reply = (done: StoreAnswer): void => GenServer.reply(from, done)
    if (state.busy.has(idOf(call))) follow(state, self, call, () => attempt(state, call), reply)
    else {
      const answering = attempt(state, call)
      if (!(answering instanceof Promise)) {
        noteKept(state, call, answering)
        return GenServer.replying(answering, state)
      }
      follow(state, self, call, () => answering, reply)
    }
    return GenServer.noreply(state)
  },
  handleInfo: (message: Overdue | { readonly _tag: string } | "timeout") => {
    if (typeof message === "object" && "giveUp" in message) message.giveUp()
  }
})
