/**
 * A task, from the view of its owner.
 *
 * TASK1. The reply is an ordinary message to the owner, followed by the `Down` of the task.
 * TASK2. When the owner stops waiting permanently, the reply is discarded and the monitor is removed. A task that the owner
 *        ignores is not linked to it either.
 * TASK3. A wait whose caller may not be the owner passes its outcome on to the other waits. If none of these is surely the
 *        owner's, the outcome is also kept for a wait that is, until the owner stops waiting permanently.
 * TASK4. A shutdown waits for the end of the task's process, never for a message. So it resolves even if the owner has
 *        taken the outcome, has stopped waiting for it, or ends the task twice.
 * TASK5. When one of several awaited tasks fails or times out, the owner stops waiting permanently for all of them.
 */
import { type ExitReason, isDown, type MonitorRef } from "../core/index.ts"
import { type Cell, deliver, type Resource, SmallSet } from "../kernel/index.ts"
import { Monitor, receiveWithin } from "../process/index.ts"

/** The reply of a task that was not awaited, as a message in its owner's mailbox. */
export class TaskReply<A> {
  readonly _tag = "TaskReply"
  /** The reference of the task. */
  readonly ref: MonitorRef
  /** What the task returned. */
  readonly value: A
  constructor(ref: MonitorRef, value: A) {
    this.ref = ref
    this.value = value
  }
}

/** The outcome of a task: `ok` with its value, `exit` with its exit reason, or nothing yet. */
export type Outcome<A> = { readonly ok: A } | { readonly exit: ExitReason } | undefined

/** A wait for the outcome; `sure` if its caller is known to be the owner. */
interface Wait<A> {
  readonly sure: boolean
  readonly notified: (outcome: Outcome<A>) => void
  stop: () => void
}

export class TaskHandle<A> {
  readonly owner: Cell
  readonly pid: Cell
  readonly ref: Monitor
  #requested = true
  #kept: Outcome<A>
  /** The callback of the owner's wait, if the caller is known to be the owner. */
  #sure: ((outcome: Outcome<A>) => void) | undefined = undefined
  /** The waits of callers that may not be the owner, and all waits that started meanwhile. */
  #unsure: SmallSet<Wait<A>> | undefined = undefined

  constructor(owner: Cell, pid: Cell) {
    this.owner = owner
    this.pid = pid
    this.ref = new Monitor(owner, pid, pid)
  }

  reply(value: unknown): void {
    if (this.#requested) deliver(this.owner, new TaskReply(this.ref, value))
  }

  /** Whether the owner is known to be waiting. */
  get awaited(): boolean {
    return this.#sure !== undefined
  }

  /** Called when a wait times out. If the caller may not be the owner and others wait, the task is kept for them. */
  despair(sure: boolean): void {
    if (sure || this.#unsure === undefined) this.forget()
  }

  /** Stops waiting permanently: removes the task's messages from the mailbox, and an outcome that is kept. */
  forget(): void {
    this.#requested = false
    this.#kept = undefined
    this.ref.close()
    this.owner.mailbox?.drop((message) => this.#concerns(message))
  }

  /** Waits for the task and takes its outcome; a timeout changes nothing. */
  outcome(ms: number, sure = true): Promise<Outcome<A>> {
    return new Promise((resolve) => {
      this.wait(ms, resolve, sure)
    })
  }

  /** Waits like `outcome`; returns a function that cancels the wait, which changes nothing either. */
  wait(ms: number, notified: (outcome: Outcome<A>) => void, sure: boolean): () => void {
    const kept = this.#kept
    if (sure && kept !== undefined) {
      this.#kept = undefined
      notified(kept)
      return () => {}
    }
    if (!sure || this.#unsure !== undefined) return this.#waitAmong(ms, { sure, notified, stop: () => {} })
    this.#sure = notified
    const over = (): void => {
      if (this.#sure === notified) this.#sure = undefined
    }
    const receive = this.#receive(ms, (outcome) => {
      over()
      notified(outcome)
    })
    return () => {
      over()
      receive.close()
    }
  }

  #receive(ms: number, notified: (outcome: Outcome<A>) => void): Resource {
    const taken = (message: unknown): void => notified(this.#read(message))
    return receiveWithin<unknown>(this.owner, (message) => this.#concerns(message), ms, taken)
  }

  /** Waits among others whose callers may not be the owner. */
  #waitAmong(ms: number, wait: Wait<A>): () => void {
    const waits = this.#unsure ?? new SmallSet<Wait<A>>()
    this.#unsure = waits
    waits.add(wait)
    const leave = (): void => {
      waits.delete(wait)
      if (waits.size === 0 && this.#unsure === waits) this.#unsure = undefined
    }
    const receive = this.#receive(ms, (outcome) => {
      leave()
      if (outcome !== undefined) this.#share(outcome, wait)
      wait.notified(outcome)
    })
    wait.stop = () => {
      leave()
      receive.close()
    }
    return wait.stop
  }

  #share(outcome: Outcome<A>, taker: Wait<A>): void {
    const others = this.#unsure?.all ?? []
    this.#kept = taker.sure || others.some(({ sure }) => sure) ? undefined : outcome
    for (const other of others) {
      other.stop()
      other.notified(outcome)
    }
  }

  #concerns(message: unknown): boolean {
    if (message instanceof TaskReply) return message.ref === this.ref
    return isDown(message) && message.ref === this.ref
  }

  #read(message: unknown): Outcome<A> {
    if (isDown(message)) return { exit: message.reason }
    if (!(message instanceof TaskReply)) return undefined
    this.forget()
    return { ok: message.value as A }
  }
}
