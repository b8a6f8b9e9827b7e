/**
 * A stream with a fault after some of its events.
 *
 * FSTREAM1. The inner stream is released once: at its end, by `return`, or by a crash.
 * FSTREAM2. A hang that is not `aware` also blocks `return`, until all calls are released.
 */
import { Channel, type Pid } from "@troupe/otp"
import type { AdapterEvent } from "@troupe/chat/events"
import { Adapter } from "@troupe/chat/models"
import type { Fault } from "./faultPlan.ts"

/** The stream of an adapter: its events, one by one or several at once. */
export type AdapterStream = Parameters<typeof Adapter.eventsOf>[0]

type Next = IteratorResult<AdapterEvent, undefined>

/** Runs a call with a fault, and holds a call that hangs. */
interface FaultSource {
  readonly around: <A>(
    fault: Fault,
    perform: () => A | PromiseLike<A>,
    options: { readonly signal: AbortSignal } | undefined,
    self: Pid | undefined
  ) => Promise<A>
  readonly untilAborted: (signal: AbortSignal | undefined) => Promise<void>
}

/** The events of a stream, with a fault among them. */
export class FaultyStream extends Channel.Reader<AdapterEvent> {
  readonly #inner: AsyncIterator<AdapterEvent, undefined>
  readonly #fault: Fault
  readonly #faults: FaultSource
  readonly #options: { readonly signal: AbortSignal }
  readonly #self: Pid | undefined
  readonly #events = new Channel.Channel<AdapterEvent>({
    onDemand: () => void this.#pull(),
    onReturn: () => this.#leave()
  })
  #read = 0

  constructor(
    stream: AdapterStream,
    fault: Fault,
    faults: FaultSource,
    options: { readonly signal: AbortSignal },
    self: Pid | undefined
  ) {
    super()
    this.#inner = Adapter.eventsOf(stream)[Symbol.asyncIterator]()
    this.#fault = fault
    this.#faults = faults
    this.#options = options
    this.#self = self
  }

  next(): Promise<Next> {
    return this.#events.next()
  }

  return(): Promise<Next> {
    return this.#events.return()
  }

  /** Answers one read: it has one event of the inner stream, twice when that is the fault. */
  async #pull(): Promise<void> {
    const isFaulty = this.#read++ === (this.#fault.after ?? 0)
    try {
      const next = await (isFaulty ? this.#pullFaulty() : this.#inner.next())
      if (next.done === true) return this.#events.end()
      this.#events.push(next.value)
      if (isFaulty && this.#fault.type === "duplicate") this.#events.push(next.value)
    } catch (error) {
      this.#events.fail(error)
    }
  }

  async #pullFaulty(): Promise<Next> {
    const fault = this.#fault
    if (fault.type === "duplicate") return this.#inner.next()
    if (fault.type === "crash") await this.#inner.return?.()
    return this.#faults.around(fault, () => this.#inner.next(), this.#options, this.#self)
  }

  async #leave(): Promise<void> {
    const { type } = this.#fault
    const hangs = type === "hang" && this.#fault.aware !== true && this.#read > (this.#fault.after ?? 0)
    if (hangs) await this.#faults.untilAborted(undefined)
    await this.#inner.return?.()
  }
}
