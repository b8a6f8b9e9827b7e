/**
 * What its sender knows of one input.
 *
 * Owns: the receipt. Does not own the input, which its turn carries, nor the turn.
 *
 * RCPT1. The status only moves on: sent, pending, then delivered or rejected. Delivered and rejected are final.
 * RCPT2. `delivered` is said when the store has the input in the thread, `pending` when it has it in the inbox, or may have it.
 * RCPT3. `rejected` is never said of an input that is pending.
 */
import { System } from "@troupe/otp"
import { SessionError } from "../errors/index.ts"
import type { Receipt, WhenBusy } from "../record/index.ts"
import type { Decided } from "../step/index.ts"
import type { Outlet } from "../events/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { Message } from "../model/index.ts"

/** Runs the turn of an input, and follows the turn that the input joined. */
interface TurnOwner {
  readonly turn: Turn
  follow(leader: TurnOwner): void
}

/** One input's way into the thread. */
export class Delivery {
  readonly id: string
  /** Whether the sender chose the id. */
  readonly named: boolean
  whenBusy: Exclude<WhenBusy, "reject">
  /** Whose turn the input is. */
  owner: TurnOwner | undefined
  #receipt: Receipt | undefined
  #first: PromiseWithResolvers<Receipt> | undefined
  #last: PromiseWithResolvers<Receipt> | undefined
  #closed = false

  constructor(whenBusy: Exclude<WhenBusy, "reject">, id: string, named = true, receipt?: Receipt) {
    this.whenBusy = whenBusy
    this.id = id
    this.named = named
    this.#receipt = receipt
  }

  get status(): "sent" | Receipt["status"] {
    return this.#receipt?.status ?? "sent"
  }

  /** The first that is known: delivered, pending or rejected. */
  get first(): Promise<Receipt> {
    this.#first ??= resolvers(this.#receipt)
    return this.#first.promise
  }

  /** The last that will be known: delivered or rejected; pending if the chat was stopped before. */
  get last(): Promise<Receipt> {
    this.#last ??= resolvers(this.#isFinal || this.#closed ? this.#receipt : undefined)
    return this.#last.promise
  }

  /** The store has it in the inbox. */
  pend(): void {
    if (this.#receipt === undefined) this.#say(pending)
  }

  /** The store has it in the thread; from here on its sender's turn is the one that took it. */
  deliver(within: Turn): void {
    if (this.#isFinal) return
    this.#say(delivered)
    const leader = within.delivery?.owner
    if (leader !== undefined && this.owner !== undefined && leader !== this.owner) this.owner.follow(leader)
  }

  /** It was refused, unless the store has it (RCPT3). */
  reject(error: unknown): void {
    if (this.#receipt !== undefined) return
    this.#say({ status: "rejected", reason: error instanceof SessionError ? error.reason : "chat_died", error })
  }

  /** Nothing more will be heard of it. */
  close(): void {
    this.#closed = true
    if (this.#receipt !== undefined) this.#last?.resolve(this.#receipt)
  }

  get #isFinal(): boolean {
    return this.#receipt !== undefined && this.#receipt.status !== "pending"
  }

  #say(receipt: Receipt): void {
    this.#receipt = receipt
    this.#first?.resolve(receipt)
    if (this.#isFinal) this.#last?.resolve(receipt)
  }
}

interface Series {
  readonly name: string
  count: number
}

const series = new WeakMap<System.System, Series>()

/** An id like no other, in this run of the program or the next. */
export const inputId = (system: System.System): string => {
  let ids = series.get(system)
  if (ids === undefined) series.set(system, (ids = { name: System.uuid(system, "inputs"), count: 0 }))
  return `${ids.name}-${(ids.count += 1)}`
}

const delivered: Receipt = { status: "delivered" }
const pending: Receipt = { status: "pending" }

const resolvers = (receipt: Receipt | undefined): PromiseWithResolvers<Receipt> => {
  const made = Promise.withResolvers<Receipt>()
  if (receipt !== undefined) made.resolve(receipt)
  return made
}

/**
 * One turn: what it adds to the thread, its options, and where its events go.
 *
 * **Details**: `messages` is empty for a turn that only goes on, and holds tool messages when the caller answers calls.
 * `retry` drops the replies after the last question or tool result first, but not one whose calls are open. `decisions` are
 * about calls that wait for them.
 */
export interface Turn {
  readonly retry?: boolean | undefined
  readonly messages: ReadonlyArray<Message>
  readonly decisions?: ReadonlyArray<Decided> | undefined
  readonly options: RunOptions
  readonly outlet: Outlet
  /** What its sender knows of the input; absent where nobody asks. */
  readonly delivery?: Delivery | undefined
}
