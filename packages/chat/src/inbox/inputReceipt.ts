/**
 * The delivery of one input: its status for the sender.
 *
 * Owns: the receipt. Does not own the input, whose row the store has, nor the turn.
 *
 * RCPT1. The status only moves forward: sent, pending, then delivered or rejected. Delivered and rejected are final.
 * RCPT2. `delivered` means that the store has the input in the thread; `pending` means that the store has the row of the input.
 * RCPT3. An input whose row the store has is never rejected, except that its sender withdraws it. When the store gave no answer, the input is rejected with an error
 *        whose `metadata.outcome` is `"unknown"`: the store may have, or may get, the row.
 */
import { System } from "@troupe/otp"
import { SessionError, storeFailure } from "../errors/index.ts"
import { isUnanswered } from "../store/index.ts"
import { describe } from "../values/index.ts"
import type { Receipt, WhenBusy } from "../record/index.ts"

/** Runs the turn of an input, and follows the turn that the input joined. */
interface TurnOwner {
  follow(leader: TurnOwner): void
}

/** The delivery of one input into the thread. */
export class Delivery {
  readonly id: string
  /** Whether the sender chose the id. */
  readonly named: boolean
  whenBusy: Exclude<WhenBusy, "reject">
  /** The owner of the input's turn. */
  owner: TurnOwner | undefined
  /** Whether the store has the row of the input (RCPT3). */
  isKept: boolean
  /** Called when a turn cannot begin at once whose input has no row, because its first commit was to store it (CHAT9). */
  goesBack: (() => void) | undefined
  /** Whether the store may have the row, and nothing that could say so is awaited (RCPT3). */
  isDoubted = false
  #accepting: Promise<unknown> | undefined
  /** Called when the receipt is final. */
  settled: ((id: string) => void) | undefined
  #receipt: Receipt | undefined
  #first: PromiseWithResolvers<Receipt> | undefined
  #last: PromiseWithResolvers<Receipt> | undefined
  #closed = false

  constructor(whenBusy: Exclude<WhenBusy, "reject">, id: string, named = true, receipt?: Receipt) {
    this.whenBusy = whenBusy
    this.id = id
    this.named = named
    this.isKept = receipt !== undefined
    this.#receipt = receipt
  }

  get status(): "sent" | Receipt["status"] {
    return this.#receipt?.status ?? "sent"
  }

  /** The first receipt: delivered, pending or rejected. */
  get first(): Promise<Receipt> {
    this.#first ??= resolvers(this.#receipt)
    return this.#first.promise
  }

  /** The final receipt: delivered or rejected; pending if the chat was stopped before. */
  get last(): Promise<Receipt> {
    this.#last ??= resolvers(this.#isFinal || this.#closed ? this.#receipt : undefined)
    return this.#last.promise
  }

  /** Marks the input as pending, if it has no receipt yet. */
  pend(): void {
    if (this.#receipt === undefined) this.#say(pending)
  }

  /** Marks the input as delivered. Its sender then follows the turn that took the input. */
  deliver(within: Delivery | undefined = this): void {
    if (this.#isFinal) return
    this.#say(delivered)
    const leader = within.owner
    if (leader !== undefined && this.owner !== undefined && leader !== this.owner) this.owner.follow(leader)
  }

  /** The turn of the input does not run: the input is rejected or, if its row is kept, pending (RCPT3). */
  reject(error: unknown): void {
    if (this.isKept) return this.pend()
    if (this.#receipt !== undefined) return
    if (this.isDoubted) return this.#say({ status: "rejected", reason: "store_failed", error: unknownOutcome(error) })
    this.#say({ status: "rejected", reason: error instanceof SessionError ? error.reason : "chat_died", error })
  }

  /** Whether the row of an input is being stored, or is there, whose turn began without one, and has not begun again since. */
  get isAccepting(): boolean {
    return this.#accepting !== undefined
  }

  /**
   * The store is to have the row now. `held` is called when it has it, or when it gave no answer, unless the turn began again. `isDoubted`
   * is whether the store may have the input in the thread.
   */
  accepting(accepted: Promise<unknown>, isDoubted: boolean, held: (isDoubted: boolean) => void): void {
    this.goesBack = undefined
    this.#accepting = accepted
    const settled = (failure?: { readonly error: unknown }): void => {
      if (this.#accepting !== accepted) return
      if (failure !== undefined) this.#accepting = undefined
      this.isKept = failure === undefined
      const isUnknown = failure !== undefined && isUnanswered(failure.error)
      if (failure === undefined || isUnknown) held(isUnknown)
      if (failure === undefined) return this.pend()
      this.isDoubted = isDoubted || isUnknown
      this.reject(notStored(failure.error))
    }
    accepted.then(
      () => settled(),
      (error: unknown) => settled({ error })
    )
  }

  /** The turn of the input begins again, or its sender takes the input back. */
  again(): void {
    this.#accepting = undefined
  }

  /** The sender took the input back, and its row is removed. */
  withdraw(error: SessionError): void {
    this.isKept = false
    if (!this.#isFinal) this.#say({ status: "rejected", reason: error.reason, error })
  }

  /** Ends the delivery: a pending receipt becomes the last receipt. */
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
    if (!this.#isFinal) return
    this.#last?.resolve(receipt)
    this.settled?.(this.id)
  }
}

const series = new WeakMap<System.System, { readonly name: string; count: number }>()

/** Makes an id that is unique across runs of the program. */
export const inputId = (system: System.System): string => {
  let ids = series.get(system)
  if (ids === undefined) series.set(system, (ids = { name: System.uuid(system, "inputs"), count: 0 }))
  return `${ids.name}-${(ids.count += 1)}`
}

/** The error of an input that the store has refused, or failed to store. */
export const notStored = (cause: unknown): SessionError =>
  storeFailure(`The input could not be stored: ${describe(cause)}; send it again`, cause)

/** The error of an input of which the store gave no answer. */
export const unknownOutcome = (cause: unknown): SessionError =>
  new SessionError(
    "store_failed",
    "The store gave no answer, so whether it has this input is not known; send it again under the same id",
    { metadata: { outcome: "unknown" }, ...(cause !== undefined && { cause }) }
  )

const delivered: Receipt = { status: "delivered" }
const pending: Receipt = { status: "pending" }

const resolvers = (receipt: Receipt | undefined): PromiseWithResolvers<Receipt> => {
  const made = Promise.withResolvers<Receipt>()
  if (receipt !== undefined) made.resolve(receipt)
  return made
}
