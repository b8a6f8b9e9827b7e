/**
 * A stream with a fault after some of its events.
 *
 * FSTREAM1. The inner stream is released once: at its end, by `return`, or by a crash.
 * FSTREAM2. A hang that is not `aware` also blocks `return`, until all calls are released.
 */
import type { Pid } from "@troupe/otp"
import type { AdapterEvent } from "../../events/index.ts"
import type { Fault } from "./faultPlan.ts"

type Next = IteratorResult<AdapterEvent, void>

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
export class FaultyStream implements AsyncIterator<AdapterEvent, void> {
  readonly #inner: AsyncIterator<AdapterEvent, void>
  readonly #fault: Fault
  readonly #faults: FaultSource
  readonly #options: { readonly signal: AbortSignal }
  readonly #self: Pid | undefined
  #said = 0
  #again: Next | undefined
  #returned: Promise<Next> | undefined

  constructor(
    stream: AsyncIterable<AdapterEvent>,
    fault: Fault,
    faults: FaultSource,
    options: { readonly signal: AbortSignal },
    self: Pid | undefined
  ) {
    this.#inner = stream[Symbol.asyncIterator]() as AsyncIterator<AdapterEvent, void>
    this.#fault = fault
    this.#faults = faults
    this.#options = options
    this.#self = self
  }

  async next(): Promise<Next> {
    const again = this.#again
    if (again !== undefined) {
      this.#again = undefined
      return again
    }
    const fault = this.#fault
    if (this.#said++ !== (fault.after ?? 0)) return this.#inner.next()
    if (fault.type === "duplicate") return (this.#again = await this.#inner.next())
    if (fault.type === "crash") await this.#inner.return?.()
    return this.#faults.around(fault, () => this.#inner.next(), this.#options, this.#self)
  }

  return(): Promise<Next> {
    this.#returned ??= this.#leave()
    return this.#returned
  }

  async #leave(): Promise<Next> {
    const { type } = this.#fault
    const hangs = type === "hang" && this.#fault.aware !== true && this.#said > (this.#fault.after ?? 0)
    if (hangs) await this.#faults.untilAborted(undefined)
    await this.#inner.return?.()
    return { done: true, value: undefined }
  }
}
