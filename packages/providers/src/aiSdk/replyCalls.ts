/**
 * The calls of one reply for the program.
 *
 * Owns: their ids, and what the model has written of them. Does not own the parts of the stream, nor the end of the reply.
 *
 * PART3. A call is completed only when the provider completed it, and started before that even without a start of the
 *        provider. A call that the provider runs itself is never one of ours, also when its package marks only its end.
 *        Another call under the id of a completed call gets an id of its own: each call of a message has one result. The
 *        same call once more, with the same arguments, is a repetition, also when its package gave it a made-up id.
 * PART5. Only the arguments of a completed call are parsed.
 * PART10. When the arguments of a call exceed `maxToolArgumentCharacters`, the reply is over (`isOver`): no later part can complete the
 *        call. Each open call whose arguments are no whole JSON object is completed with `arguments: null`. The reason is `tool_calls`.
 */
import type { AdapterEvent } from "@troupe/chat/events"
import { ToolCall } from "@troupe/chat/messages"

interface OpenCall {
  /** The id that the package gave the call, and its id in our reply. */
  readonly given: string
  readonly id: string
  readonly name: string
  rawArguments: string
}

type CallData = { readonly metadata?: Record<string, unknown> }

const cutOff = "the reply was ended before the call had all of its arguments; call the tool again"

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
  /** The calls that the provider runs, or may run, and those that may be repetitions: their end says so (PART3). */
  readonly #foreign = new Set<string>()
  #hasWhole = false
  readonly #emit: (event: AdapterEvent) => void

  constructor(emit: (event: AdapterEvent) => void, most = Number.POSITIVE_INFINITY) {
    this.#emit = emit
    this.#most = most
  }

  /** The ids of the started calls, in their order. */
  get ids(): Iterable<string> {
    return this.#names.keys()
  }

  /** Whether the provider completed a call for us. */
  get hasCompleted(): boolean {
    return this.#completed.size > 0
  }

  /** Whether a completed call has all of its arguments. */
  get hasWhole(): boolean {
    return this.#hasWhole
  }

  /** Whether a call is not completed. */
  get hasOpen(): boolean {
    return this.#open.size > 0
  }

  /** Begins a call of the stream, whose arguments follow. `isForeign` is whether the provider runs it. */
  begin(id: string, name: string, isForeign: boolean): void {
    if (isForeign || isRepetition(id, name, this.#names)) this.#foreign.add(id)
    else this.#start(id, name)
  }

  #idOf(id: string): string {
    return this.#otherIds.get(id) ?? id
  }

  /** Starts a call, unless it has started, and returns its id. A call under the id of a completed call gets an id of its own. */
  #start(callId: string, name: string): string {
    if (this.#completed.has(this.#idOf(callId))) this.#otherIds.set(callId, this.#freeId(callId))
    const id = this.#idOf(callId)
    if (this.#names.has(id)) return id
    this.#names.set(id, name)
    this.#open.set(id, { given: callId, id, name, rawArguments: "" })
    this.#emit({ type: "tool_call_started", id, name })
    return id
  }

  /** Adds to the arguments of a call for the program, and returns whether they are too large (PART10). */
  write(callId: string, delta: string): boolean {
    if (this.#foreign.has(callId)) return false
    const id = this.#idOf(callId)
    this.#emit({ type: "tool_call_delta", id, argumentsDelta: delta })
    const call = this.#open.get(id)
    if (call === undefined) return false
    call.rawArguments += delta
    return call.rawArguments.length > this.#most
  }

  /** Completes a call, and returns its id; `undefined` for a repetition of a call under a made-up id (PART3). */
  complete(callId: string, name: string, rawArguments: string, data: CallData = {}): string | undefined {
    const call = JSON.stringify([name, rawArguments])
    const isSame = this.#completed.get(this.#idOf(callId)) === call
    if (!isSame && isRepetition(callId, call, this.#completed)) return undefined
    const id = isSame ? this.#idOf(callId) : this.#start(callId, name)
    this.#open.delete(id)
    this.#completed.set(id, call)
    const args = ToolCall.parseArguments(rawArguments)
    this.#hasWhole ||= args !== null
    this.#emit({ type: "tool_call_completed", id, name, arguments: args, rawArguments, ...data })
    return id
  }

  /** Completes the open calls of a reply that ends before them, and returns their ids (PART10). */
  cut(): ReadonlyArray<string> {
    return [...this.#open.values()].flatMap(({ given, id, name, rawArguments }) => {
      if (rawArguments !== "" && ToolCall.parseArguments(rawArguments) !== null)
        return this.complete(given, name, rawArguments) ?? []
      this.#emit({ type: "tool_call_completed", id, name, arguments: null, rawArguments, problem: cutOff })
      return id
    })
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
