/**
 * A task, as its owner sees it.
 *
 * TASK1. The reply is an ordinary message to the owner, followed by the `Down` of the task.
 * TASK2. Once the owner has stopped waiting for good, the reply is dropped and the monitor is gone.
 */
import type { ExitReason } from "../ExitReason.ts"
import { isDown } from "../SystemMessage.ts"
import type { MonitorRef } from "../SystemMessage.ts"
import type { Cell } from "./cell.ts"
import { deliver } from "./delivery.ts"
import { Monitor } from "./monitor.ts"
import { receiveWithin } from "./receive.ts"

/** The reply of a task, as a message to its owner. */
export class TaskReply<A> {
  readonly _tag = "TaskReply"
  readonly ref: MonitorRef
  readonly value: A
  constructor(ref: MonitorRef, value: A) {
    this.ref = ref
    this.value = value
  }
}

/** What came of a task: its value, its exit, or nothing yet. */
export type Outcome<A> = { readonly ok: A } | { readonly exit: ExitReason } | undefined

export class TaskHandle<A> {
  readonly owner: Cell
  readonly pid: Cell
  readonly ref: Monitor
  #wanted = true

  constructor(owner: Cell, pid: Cell) {
    this.owner = owner
    this.pid = pid
    this.ref = new Monitor(owner, pid, pid)
  }

  reply(value: unknown): void {
    if (this.#wanted) deliver(this.owner, new TaskReply(this.ref, value))
  }

  /** Stops waiting for good: takes out of the mailbox what is there. */
  forget(): void {
    this.#wanted = false
    this.ref.close()
    this.owner.mailbox?.drop((message) => this.#concerns(message))
  }

  /** Waits for the task; the outcome is taken when it comes, nothing changes when it does not. */
  outcome(ms: number): Promise<Outcome<A>> {
    return new Promise((resolve) => {
      this.wait(ms, resolve)
    })
  }

  /** Waits as `outcome` does; answers how to give the wait up, which changes nothing either. */
  wait(ms: number, told: (outcome: Outcome<A>) => void): () => void {
    const taken = (message: unknown): void => told(this.#read(message))
    return receiveWithin<unknown>(this.owner, (message) => this.#concerns(message), ms, taken)
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
