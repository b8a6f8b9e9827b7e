/**
 * The process that guards the store.
 *
 * STORE1. Operations on one chat run one after another, in the order of the calls; those on different chats run at the same
 *         time.
 * STORE2. When the store fails, the process replies with the error to the calling chat, and continues.
 * STORE3. An operation blocks the next one only as long as its caller waits.
 * STORE5. When the process dies, the store continues its running operations, and the next process keeps STORE1 to STORE4
 *         for them. Operations that the dead process had not begun are dropped, and nothing waits for its loads. Nothing
 *         begins without a process: a write to be repeated (STORE4) waits for the next process, and never runs after the
 *         end of the Troupe.
 * STORE10. Each failure of the store, and each operation that it has not answered after 5 seconds, is one report of the system's log. A typed
 *          refusal is none.
 *
 * When a process dies after a slow write:
 *   1. the store gets a write, and another write of the same chat waits for it.
 *   2. the process dies, and the chats with it; the next process gets a load of the chat's record.
 *   3. the load waits for the slow write. The second write is dropped: no caller waits for it, and it would undo what the
 *      chat's next process has stored by then.
 */
import { GenServer, type Pid, Process, System, Timer } from "@troupe/otp"
import { isSessionStore } from "./Store.ts"
import { isPromiseLike } from "../async/index.ts"
import { isRecord, isStoreRefusal } from "../errors/index.ts"
import { type Draft, NewestEntries, awaitSweep, type Sweep, sweep } from "./chatHeads.ts"
import { InboxInRecord } from "./inboxInRecord.ts"
import {
  type Late,
  LateWrites,
  type Asked,
  idOf,
  isWrite,
  ofAll,
  perform,
  type StoreCall,
  type StoreValues
} from "./storeCall.ts"
import type { Home, Store } from "./sessionStore.ts"

/** The notice that the process of a chat has ended: no more drafts of it follow. */
export interface Left {
  readonly left: string
}

/** The reply of the process: the value of the call, or the store's error. */
export type StoreAnswer = { readonly value: StoreValues[keyof StoreValues] } | { readonly error: unknown }

/** The message to itself that an operation takes too long. */
interface Overdue {
  readonly call: StoreCall
  readonly giveUp: () => void
}

/** The address of the store's process. */
export type StoreServer = GenServer.Server<StoreCall, StoreAnswer, Draft | Left>

/** A running operation; `giveUp` unblocks the next one. */
interface UnderWay extends Overdue {
  readonly until: number
  timer: Timer.TimerRef | undefined
}

/** A store and its running operations; outlives the processes that guard it (STORE5). */
export interface Guarded extends Asked {
  readonly system: System.System
  /** The store, if it keeps no log. */
  readonly plain: InboxInRecord | undefined
  /** Whether a conversation does not expire now: it is live here, or its home is another program. */
  readonly isKept: (id: string) => boolean
  /** The last operation on each chat: resolves when the next may begin. */
  readonly busy: Map<string, Promise<void>>
  readonly underWay: Set<UnderWay>
  readonly late: LateWrites
  readonly newest: NewestEntries
  /** The late writes that settled while there was no process. */
  readonly outstanding: Array<readonly [id: string, late: Late]>
  /** The present process, or the last one. */
  guard: Pid<Overdue | Sweep> | undefined
}

/** The store with an inbox, which a store without a log has in its records. */
const called = (store: Store): Pick<Guarded, "store" | "log" | "plain"> => {
  if (isSessionStore(store)) return { store, log: store, plain: undefined }
  const plain = new InboxInRecord(store)
  return { store: plain, log: undefined, plain }
}

/** The first state of a guarded store. */
export const guarded = (
  store: Store,
  system: System.System,
  isLiving: (id: string) => boolean,
  home?: Home
): Guarded => ({
  ...called(store),
  system,
  isKept: home === undefined ? isLiving : (id) => isLiving(id) || home.fenceOf(id) === undefined,
  busy: new Map(),
  underWay: new Set(),
  late: new LateWrites(),
  newest: new NewestEntries(store, isLiving, (id, error) => reportFailure(system, "keepDraft", id, error)),
  outstanding: [],
  guard: undefined
})

/** The timeout of `GenServer.call`. */
const callerWaitsMs = 5_000

/** The value is cast to the port's type; a record is checked where it is used. */
const answer = (done: unknown): StoreAnswer => ({ value: (done ?? undefined) as StoreValues[keyof StoreValues] })

/** The ids with this prefix whose operations are not finished, or whose writes are late. */
const underWay = ({ busy, late }: Guarded, prefix: string): ReadonlyArray<string> =>
  Array.from(new Set([...busy.keys(), ...late.ids])).filter((id) => id.startsWith(prefix))

/** The result of a call, now or later. */
const doneBy = (state: Guarded, call: StoreCall): unknown => {
  switch (call.type) {
    case "drafted":
      return state.newest.drafted(call.id)
    case "underWay":
      return underWay(state, call.prefix)
    default:
      return perform(state, call)
  }
}

/** The store's answer, at once or later; an error is an answer. */
const attempt = (state: Guarded, call: StoreCall): StoreAnswer | Promise<StoreAnswer> => {
  try {
    const done = doneBy(state, call)
    const answered = (value: unknown): StoreAnswer => {
      state.newest.done(call, value)
      return answer(value)
    }
    return isPromiseLike(done)
      ? Promise.resolve(done).then(answered, (error: unknown) => failed(state, call, error))
      : answered(done)
  } catch (error) {
    return failed(state, call, error)
  }
}

const failed = ({ system }: Guarded, call: StoreCall, error: unknown): StoreAnswer => {
  reportFailure(system, call.type, idOf(call), error)
  return { error }
}

/** STORE10 */
const reportFailure = (system: System.System, operation: string, chat: string, error: unknown): void => {
  if (isStoreRefusal(error)) return
  const subject = `The store failed at ${operation}${chat === ofAll ? "" : ` of the chat ${chat}`}`
  System.report(system, { subject, error, attributes: { operation, ...(chat !== ofAll && { chat }) } })
}

/** Remembers a write that was answered, which is newer than the late ones. */
const noteKept = ({ late }: Guarded, call: StoreCall, answered: StoreAnswer, order: number): void => {
  if ("error" in answered) late.failed(call, order)
  else late.stored(call, answered.value, order)
}

/**
 * Begins when the operation before is over. It is over when it is done, when it has blocked the next one for too long
 * (STORE3), or at once if it is dropped.
 */
const follow = (
  state: Guarded,
  call: StoreCall,
  begin: () => StoreAnswer | Promise<StoreAnswer> | undefined,
  answered: (answer: StoreAnswer) => void
): void => {
  const id = idOf(call)
  const order = (state.late.begins += 1)
  const before = state.busy.get(id)
  const run = async (): Promise<void> => {
    if (before !== undefined) await before
    const begun = begin()
    if (begun === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const operation: UnderWay = {
      call,
      giveUp: resolve,
      until: state.system.clock.now() + callerWaitsMs,
      timer: undefined
    }
    state.underWay.add(operation)
    waitFor(state, operation)
    let late: Late | undefined
    const settled = Promise.resolve(begun).then((outcome) => {
      if (operation.timer !== undefined) Timer.cancel(operation.timer)
      state.underWay.delete(operation)
      answered(outcome)
      if (late === undefined) noteKept(state, call, outcome, order)
      else cameBack(state, id, late)
      return true
    })
    const isSettled = await Promise.race([settled, promise])
    state.underWay.delete(operation)
    if (isSettled !== true && isWrite(call)) late = state.late.begun(call, order)
  }
  const release = async (): Promise<void> => {
    await run()
    if (state.busy.get(id) === operation) state.busy.delete(id)
  }
  const operation = release()
  state.busy.set(id, operation)
}

/** Sends `operation` to the process when its time is over. */
const waitFor = ({ guard, system: { clock } }: Guarded, operation: UnderWay): void => {
  if (guard === undefined) return
  operation.timer = Timer.sendAfter(guard, operation, Math.max(0, operation.until - clock.now()))
}

/** Repeats the newest writes (STORE4), after the operations that may be newer. */
const cameBack = (state: Guarded, id: string, late: Late): void => {
  const again = (): StoreAnswer | Promise<StoreAnswer> | undefined => {
    if (!isGuarded(state)) {
      state.outstanding.push([id, late])
      return undefined
    }
    return repeat(state, state.late.settled(id, late))
  }
  follow(state, late.newest ?? { type: "load", id }, again, () => {})
}

/** Performs the calls one after another, whether or not one fails. */
const repeat = (state: Guarded, calls: ReadonlyArray<StoreCall>): StoreAnswer | Promise<StoreAnswer> => {
  const [first, ...others] = calls
  const answered = first === undefined ? answer(undefined) : attempt(state, first)
  return others.length === 0 ? answered : Promise.resolve(answered).then(() => repeat(state, others))
}

export const forgetChat = ({ newest, plain }: Guarded, id: string): void => {
  newest.forget(id)
  plain?.forget(id)
}

/** Runs after the pending operations of the chat, or at once if there are none. */
const behind = ({ busy }: Guarded, id: string, run: () => void): void => {
  const before = busy.get(id)
  if (before === undefined) run()
  else void before.then(run)
}

const isGuarded = ({ guard }: Guarded): boolean => guard !== undefined && Process.isAlive(guard)

/** REPORT7: the type of a message, and its chat. */
const shownOf = (message: unknown): unknown => {
  if (!isRecord(message)) return undefined
  const { type, _tag, id, left } = message
  const chat = left ?? id
  return { type: type ?? _tag, ...(typeof chat === "string" && { chat }) }
}

export const storeServer = GenServer.make({
  label: "Store",
  init: (state: Guarded, self: Pid<Overdue | Sweep>) => {
    state.guard = self
    for (const operation of state.underWay) {
      if (!isWrite(operation.call)) operation.giveUp()
      else waitFor(state, operation)
    }
    for (const [id, late] of state.outstanding.splice(0)) cameBack(state, id, late)
    if (state.log?.ttlMs !== undefined) awaitSweep(self, state.system)
    return GenServer.ok(state)
  },
  handleCall: (call: StoreCall, from: GenServer.From<StoreAnswer>, state: Guarded, self: Pid<Overdue | Sweep>) => {
    const reply = (done: StoreAnswer): void => GenServer.reply(from, done)
    if (idOf(call) === ofAll) {
      void Promise.resolve(attempt(state, call)).then(reply)
      return GenServer.noreply(state)
    }
    if (state.busy.has(idOf(call))) {
      follow(state, call, () => (Process.isAlive(self) ? attempt(state, call) : undefined), reply)
    } else {
      const answering = attempt(state, call)
      if (!(answering instanceof Promise)) {
        noteKept(state, call, answering, (state.late.begins += 1))
        return GenServer.replying(answering, state)
      }
      // If the call of the store ended this process, the operation is not queued.
      if (Process.isAlive(self)) follow(state, call, () => answering, reply)
    }
    return GenServer.noreply(state)
  },
  handleCast: (message: Draft | Left, state: Guarded) => {
    // Forgets a chat after its last draft; its next process loads the record before any draft.
    if ("left" in message) behind(state, message.left, () => forgetChat(state, message.left))
    else behind(state, message.id, () => state.newest.keep(message, () => isGuarded(state)))
    return GenServer.noreply(state)
  },
  handleInfo: (message: Overdue | Sweep | { readonly _tag: string } | "timeout", state: Guarded) => {
    if (typeof message !== "object") return
    if ("giveUp" in message) {
      const { call, giveUp } = message
      reportFailure(state.system, call.type, idOf(call), `no answer for ${callerWaitsMs} ms`)
      giveUp()
    } else if ("sweep" in message && state.guard !== undefined) {
      const { guard, system, log, isKept } = state
      sweep(
        guard,
        system,
        () => log?.expire(isKept),
        (error) => reportFailure(system, "expire", ofAll, error)
      )
    }
  },
  formatStatus: ({ state, message }) => ({ state: { busy: state.busy.size }, message: shownOf(message) })
})
