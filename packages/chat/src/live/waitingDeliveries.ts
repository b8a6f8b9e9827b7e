import { SparseMap } from "../async/index.ts"
import { Delivery } from "../inbox/index.ts"
import type { InboxEntry } from "../record/index.ts"

/** The deliveries of inputs that wait in the record, and whose turn is over. */
export class WaitingDeliveries {
  readonly #deliveries = new SparseMap<string, Delivery>()

  get size(): number {
    return this.#deliveries.size
  }

  add(delivery: Delivery): void {
    this.#deliveries.set(delivery.id, delivery)
  }

  delete(id: string): void {
    this.#deliveries.delete(id)
  }

  /** A save, whose answer the process before did not get, stored this input. */
  taken(id: string): void {
    this.#deliveries.get(id)?.deliver()
    this.#deliveries.delete(id)
  }

  /** The delivery of an input that the record has; it is queued now. */
  deliveryOf({ id, named, whenBusy }: InboxEntry): Delivery {
    const delivery = this.#deliveries.get(id) ?? new Delivery(whenBusy, id, named === true, { status: "pending" })
    delivery.whenBusy = "queue"
    return delivery
  }

  /** Closes every delivery. */
  close(): void {
    for (const delivery of this.#deliveries.all.values()) delivery.close()
  }
}
