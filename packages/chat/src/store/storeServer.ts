/**
 * The process that guards the store.
 *
 * STORE1. Operations on one chat are done one after another, in the order asked; those on different chats at the same time.
 * STORE2. A store that fails is the asking chat's trouble: the process answers with the failure and goes on.
 * STORE3. An operation holds up the next one for as long as a caller waits, and no longer.
 * STORE4. When a write comes back that held up nobody any more, the newest one kept meanwhile is done again: what the store
 *         has in the end is what was asked last.
 * STORE5. The process may die, the store goes on with what it was asked: the next process keeps STORE1 to STORE4 of it too.
 *         What the dead one had not begun is not begun any more, and nobody waits for what it was loading. Nothing is begun
 *         without a process: what is to be done again (STORE4) waits for the next, and after the Troupe's end for ever.
 * STORE7. Where the store keeps a log, a save says which entry it follows, and who writes: what another program wrote is not
 *         written over. A fork or a rewind has no writer: what was late before it stays undone, and is not done again.
 * STORE8. Where conversations have a time to live, those that are over are deleted each minute, but for the ones that live
 *         here. A store that fails with that is asked again the next minute.
 *
 * A process that dies behind a slow write:
 *   1. the store is asked for a write, and another of the same chat waits for it.
 *   2. the process dies, and the chats with it; the next process is asked for the chat's record.
 *   3. that answer waits for the slow write. The one behind it is not done: nobody hears of it, and it would undo what the
 *      chat's next process has kept by then.
 */
import { type Clock, GenServer, type Pid, Process, Timer } from "@troupe/otp"
import { isSessionStore } from "./Store.ts"
import { ignoreRejection, inBackground, isPromiseLike } from "../async/index.ts"
import { type Draft, NewestEntries } from "./chatHeads.ts"
import { type Asked, idOf, isWrite, perform, type StoreCall, type StoreValues } from "./storeCall.ts"
import type { Store } from "./sessionStore.ts"

/** What it is told when the process of a chat has ended: no draft of it comes any more. */
export interface Left {
  readonly left: string
}

/** What it answers: the value that was asked for, or what the store threw. */
export type StoreAnswer = { readonly value: StoreValues[keyof StoreValues] } | { readonly error: unknown }

/** It tells itself that an operation takes too long. */
interface Overdue {
  readonly giveUp: () => void
}

/** It tells itself that a minute is over. */
interface Sweep {
  readonly sweep: true
}

/** The address of the store's process. */
export type StoreServer = GenServer.Server<StoreCall, StoreAnswer, Draft | Left>

/** The writes of a chat that nobody waits for any longer, and the newest that was kept since. */
interface Late {
  count: number
  newest: StoreCall | undefined
}

/** What the store was asked and has not answered, and how to hold up nobody for it any more. */
interface UnderWay extends Overdue {
  readonly call: StoreCall
  readonly until: number
  timer: Timer.TimerRef | undefined
}

/** A store, and what it does; outlives the processes that guard it (STORE5). */
export interface Guarded extends Asked {
  readonly clock: Clock.Clock
  /** Which conversations live here. */
  readonly isLiving: (id: string) => boolean
  /** The last operation on each chat: resolves when the next may begin. */
  readonly busy: Map<string, Promise<void>>
  readonly underWay: Set<UnderWay>
  readonly late: Map<string, Late>
  readonly newest: NewestEntries
  /** What came back late while there was no process. */
  readonly outstanding: Array<readonly [id: string, late: Late]>
  /** The process that guards it, or was the last to. */
  guard: Pid<Overdue | Sweep> | undefined
}

/** A store that nothing was asked of yet. */
export const guarded = (
  store: Store,
  clock: Clock.Clock,
  writer: string,
  isLiving: (id: string) => boolean
): Guarded => ({
  store,
  log: isSessionStore(store) ? store : undefined,
  clock,
  writer,
  isLiving,
  busy: new Map(),
  underWay: new Set(),
  late: new Map(),
  newest: new NewestEntries(store, isLiving),
  outstanding: [],
  guard: undefined
})

/** As long as `GenServer.call` waits. */
const callerWaitsMs = 5_000

const sweepEveryMs = 60_000

/** A store of another's keeps what its type says; a record is checked where it is taken up. */
const answer = (done: unknown): StoreAnswer => ({ value: (done ?? undefined) as StoreValues[keyof StoreValues] })

/** What the store answers, now or later; its failure is an answer. */
const attempt = (state: Guarded, call: StoreCall): StoreAnswer | Promise<StoreAnswer> => {
  try {
    const done = perform(state, call)
    const answered = (value: unknown): StoreAnswer => {
      state.newest.done(call, value)
      return answer(value)
    }
    return isPromiseLike(done) ? Promise.resolve(done).then(answered, (error: unknown) => ({ error })) : answered(done)
  } catch (error) {
    return { error }
  }
}

/** A write was kept, and is newer than those that are late. */
const noteKept = ({ late }: Guarded, call: StoreCall, answered: StoreAnswer): void => {
  if (late.size === 0 || !isWrite(call) || "error" in answered) return
  const waited = late.get(idOf(call))
  if (waited !== undefined) waited.newest = call.type === "rewind" ? undefined : call
}

/**
 * Begins when the one before is over; over when it is done, or when it has held up the next for too long (STORE3). One that
 * is not to be begun any more is over at once.
 */
const follow = (
  state: Guarded,
  call: StoreCall,
  begin: () => StoreAnswer | Promise<StoreAnswer> | undefined,
  answered: (answer: StoreAnswer) => void
): void => {
  const id = idOf(call)
  const before = state.busy.get(id)
  const run = async (): Promise<void> => {
    if (before !== undefined) await before
    const begun = begin()
    if (begun === undefined) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const operation: UnderWay = { call, giveUp: resolve, until: state.clock.now() + callerWaitsMs, timer: undefined }
    state.underWay.add(operation)
    waitFor(state, operation)
    let late: Late | undefined
    const settled = Promise.resolve(begun).then((outcome) => {
      if (operation.timer !== undefined) Timer.cancel(operation.timer)
      state.underWay.delete(operation)
      answered(outcome)
      if (late === undefined) noteKept(state, call, outcome)
      else cameBack(state, id, late)
      return true
    })
    const isSettled = await Promise.race([settled, promise])
    state.underWay.delete(operation)
    if (isSettled !== true && isWrite(call)) late = isLate(state, id)
  }
  const release = async (): Promise<void> => {
    await run()
    if (state.busy.get(id) === operation) state.busy.delete(id)
  }
  const operation = release()
  state.busy.set(id, operation)
}

/** The process is told when the time for an operation is over. */
const waitFor = ({ guard, clock }: Guarded, operation: UnderWay): void => {
  if (guard === undefined) return
  operation.timer = Timer.sendAfter(guard, operation, Math.max(0, operation.until - clock.now()))
}

const isLate = ({ late }: Guarded, id: string): Late => {
  const waited = late.get(id) ?? { count: 0, newest: undefined }
  waited.count += 1
  late.set(id, waited)
  return waited
}

/** STORE4, once nothing is under way that may be newer. */
const cameBack = (state: Guarded, id: string, late: Late): void => {
  const again = (): StoreAnswer | Promise<StoreAnswer> | undefined => {
    if (!isGuarded(state)) {
      state.outstanding.push([id, late])
      return undefined
    }
    late.count -= 1
    if (late.count === 0) state.late.delete(id)
    return late.newest === undefined ? answer(undefined) : attempt(state, late.newest)
  }
  follow(state, late.newest ?? { type: "load", id }, again, () => {})
}

/** Behind what was asked of the chat before, at once if that is over. */
const behind = ({ busy }: Guarded, id: string, run: () => void): void => {
  const before = busy.get(id)
  if (before === undefined) run()
  else void before.then(run)
}

const isGuarded = ({ guard }: Guarded): boolean => guard !== undefined && Process.isAlive(guard)

/** A program that has nothing else to do does not stay for a sweep. */
const awaitSweep = (guard: Pid<Sweep>, clock: Clock.Clock): void => {
  const due = (): void => {
    forget()
    Process.send(guard, { sweep: true })
  }
  const timer = inBackground(clock, due, sweepEveryMs)
  const forget = Process.onExit(guard, () => clock.clearTimeout(timer))
}

/** STORE8 */
const sweep = ({ log, guard, isLiving, clock }: Guarded): void => {
  if (guard === undefined || log === undefined) return
  awaitSweep(guard, clock)
  try {
    ignoreRejection(log.expire(isLiving))
  } catch {
    // The next minute asks again.
  }
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
    if (state.log?.ttlMs !== undefined) awaitSweep(self, state.clock)
    return GenServer.ok(state)
  },
  handleCall: (call: StoreCall, from: GenServer.From<StoreAnswer>, state: Guarded, self: Pid<Overdue | Sweep>) => {
    const reply = (done: StoreAnswer): void => GenServer.reply(from, done)
    if (call.type === "list") {
      void Promise.resolve(attempt(state, call)).then(reply)
      return GenServer.noreply(state)
    }
    if (state.busy.has(idOf(call))) {
      follow(state, call, () => (Process.isAlive(self) ? attempt(state, call) : undefined), reply)
    } else {
      const answering = attempt(state, call)
      if (!(answering instanceof Promise)) {
        noteKept(state, call, answering)
        return GenServer.replying(answering, state)
      }
      // A process that the store ended by being asked is not waited for: nothing is under way.
      if (Process.isAlive(self)) follow(state, call, () => answering, reply)
    }
    return GenServer.noreply(state)
  },
  handleCast: (message: Draft | Left, state: Guarded) => {
    // Of a chat whose process has ended, behind the draft that came last: the next one loads before it says anything.
    if ("left" in message) behind(state, message.left, () => state.newest.forget(message.left))
    else behind(state, message.id, () => state.newest.keep(message, () => isGuarded(state)))
    return GenServer.noreply(state)
  },
  handleInfo: (message: Overdue | Sweep | { readonly _tag: string } | "timeout", state: Guarded) => {
    if (typeof message !== "object") return
    if ("giveUp" in message) message.giveUp()
    else if ("sweep" in message) sweep(state)
  }
})
