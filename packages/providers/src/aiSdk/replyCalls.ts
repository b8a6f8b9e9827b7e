/** The calls of one reply for the program: their ids, and what the model has written of them. */

import type { AdapterEvent } from "@troupe/chat/events"

interface OpenCall {
  /** The id that the package gave the call, and its id in our reply. */
  readonly given: string
  readonly id: string
  readonly name: string
  rawArguments: string
}

/** The calls of one reply. `most` bounds the characters in the arguments of one call. */
export class ReplyCalls {
  readonly #most: number
  /** The names of the started calls by their ids. */
  readonly #names = new Map<string, string>()
  /** The started calls that are not completed, by their ids. */
  readonly #open = new Map<string, OpenCall>()
  /** The completed calls: their names and arguments by their ids. */
  readonly #completed = new Map<string, string>()
  /** The ids of calls whose own ids were used before, by these (PART3). */
  readonly #otherIds = new Map<string, string>()

  readonly #emit: (event: AdapterEvent) => void

  constructor(emit: (event: AdapterEvent) => void, most = Number.POSITIVE_INFINITY) {
    this.#emit = emit
    this.#most = most
  }

  /** The ids of the started calls, in their order. */
  get ids(): Iterable<string> {
    return this.#names.keys()
  }

  /** The id of a call in our reply. */
  idOf(id: string): string {
    return this.#otherIds.get(id) ?? id
  }

  /** Starts a call, unless it has started, and returns its id. A call under the id of a completed call gets an id of its own. */
  start(callId: string, name: string): string {
    if (this.#completed.has(this.idOf(callId))) this.#otherIds.set(callId, this.#freeId(callId))
    const id = this.idOf(callId)
    if (this.#names.has(id)) return id
    this.#names.set(id, name)
    this.#open.set(id, { given: callId, id, name, rawArguments: "" })
    this.#emit({ type: "tool_call_started", id, name })
    return id
  }

  /** Adds to the arguments of a call, and returns whether they are too large. */
  write(id: string, delta: string): boolean {
    const call = this.#open.get(this.idOf(id))
    if (call === undefined) return false
    call.rawArguments += delta
    return call.rawArguments.length > this.#most
  }

  /** The calls that are not completed. */
  open(): ReadonlyArray<Readonly<OpenCall>> {
    return [...this.#open.values()]
  }

  /** Completes a call, and returns its id; `undefined` for a repetition of a call under a made-up id (PART3). */
  complete(callId: string, name: string, rawArguments: string): string | undefined {
    const call = JSON.stringify([name, rawArguments])
    const isSame = this.#completed.get(this.idOf(callId)) === call
    if (!isSame && isRepetition(callId, call, this.#completed)) return undefined
    const id = isSame ? this.idOf(callId) : this.start(callId, name)
    this.#open.delete(id)
    this.#completed.set(id, call)
    return id
  }

  /** Whether a call that begins has a made-up id, and the name of a started call with an id of the provider. */
  repeatsName(id: string, name: string): boolean {
    return isRepetition(id, name, this.#names)
  }

  #freeId(id: string): string {
    for (let number = 2; ; number++) if (!this.#names.has(`${id}-${number}`)) return `${id}-${number}`
  }
}

/** Whether an id has the form of those that packages of the AI SDK make up, for a call without an id or with a used one. */
const isMadeUp = (id: string): boolean => /^[\dA-Za-z]{16}$/.test(id)

/** Whether a call with a made-up id is the same as one of these with an id of the provider's. */
const isRepetition = (id: string, call: string, calls: ReadonlyMap<string, string>): boolean =>
  isMadeUp(id) && [...calls].some(([other, known]) => known === call && !isMadeUp(other))
