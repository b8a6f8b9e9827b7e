/**
 * The state that the clients of a conversation share with its agent.
 *
 * Owns: the state of each chat that its thread does not have yet, and the listeners. Does not own the chats. Clients keep the state
 * too, and send it with each run.
 *
 * AGUISTATE1. The last writer decides: a run with new content that sends a state, or a handler or hook that sets one. A run
 *             that only connects changes nothing, nor does a run without a state or with an empty one.
 * AGUISTATE2. A state that is set is one that a client can send back: it has a JSON form, within the limit.
 * AGUISTATE3. A client has the present state at the end of its run. Between two frames only the newest state is sent.
 * AGUISTATE4. The state is stored with the next step of a run, and no entry is written for it. It is there after a restart, and where
 *             the conversation moves to.
 */
import type { LocalChatRef } from "@troupe/chat"
import { ValidationError } from "@troupe/chat/errors"
import { type Changes, deepest, depthOf } from "../../http/index.ts"
import { dataFrames } from "../index.ts"
import type { AgUiEvent } from "./agUiStream.ts"
import { patchOf } from "./jsonPatch.ts"

/** The key of the state in the metadata of a thread. */
const key = "shared_state"

interface Present {
  readonly text: string | undefined
  readonly value: unknown
}

const none: Present = { text: undefined, value: undefined }

/** The state of one conversation. */
export class SharedState {
  readonly #chat: Pick<LocalChatRef, "thread">
  #unsaved: Present | undefined
  /** The state as the thread has it, which is read once. */
  #stored: { readonly from: object; readonly present: Present } | undefined
  readonly #listeners = new Set<() => void>()

  constructor(chat: Pick<LocalChatRef, "thread">) {
    this.#chat = chat
  }

  /** The present state; `undefined` if there is none. */
  get value(): unknown {
    return this.#present.value
  }

  /** The present state as JSON text. */
  get text(): string | undefined {
    return this.#present.text
  }

  get #present(): Present {
    const stored = this.#inThread
    if (this.#unsaved?.text === stored.text) this.#unsaved = undefined
    return this.#unsaved ?? stored
  }

  get #inThread(): Present {
    const { metadata } = this.#chat.thread
    if (metadata?.[key] === undefined) return none
    if (this.#stored?.from !== metadata) {
      const value = metadata[key]
      this.#stored = { from: metadata, present: { value, text: JSON.stringify(value) } }
    }
    return this.#stored.present
  }

  /** Takes the state that a client sent (AGUISTATE1). */
  sent(state: unknown): void {
    if (!isEmpty(state)) this.#become(JSON.stringify(state))
  }

  /** Sets the state. Throws a `ValidationError` for one that no client could send back (AGUISTATE2). */
  set(state: unknown, mostCharacters: number): void {
    const text = textOf(state)
    if (text === undefined) throw refused("has no JSON form")
    if (text.length > mostCharacters) throw refused(`has more than ${mostCharacters} characters`)
    if (depthOf(text) > deepest) throw refused(`is nested more than ${deepest} levels deep`)
    this.#become(text)
  }

  /** The metadata of the thread with the state, if the thread does not have it (AGUISTATE4). */
  unsaved(): Readonly<Record<string, unknown>> | undefined {
    const { text, value } = this.#present
    return this.#unsaved === undefined || text === undefined ? undefined : { [key]: value }
  }

  /** Calls the listener after each change. Returns the function that removes it. */
  subscribe(changed: () => void): () => void {
    this.#listeners.add(changed)
    return () => void this.#listeners.delete(changed)
  }

  #become(text: string): void {
    if (text === this.text) return
    this.#unsaved = { text, value: JSON.parse(text) }
    for (const changed of this.#listeners) changed()
  }
}

const states = new WeakMap<LocalChatRef, SharedState>()

/** The state of a chat. */
export const sharedStateOf = (chat: LocalChatRef): SharedState => {
  const known = states.get(chat) ?? new SharedState(chat)
  states.set(chat, known)
  return known
}

const isEmpty = (state: unknown): boolean =>
  state === undefined || state === null || (typeof state === "object" && Object.keys(state).length === 0)

const textOf = (state: unknown): string | undefined => {
  try {
    return JSON.stringify(state)
  } catch {
    return undefined
  }
}

const refused = (reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field: ["state"], reason }])

/** Names that the JSON Patch library of the clients refuses in a path. */
const refusedInPaths = /\/(?:__proto__|constructor|prototype)(?:\/|$)/u

/**
 * The changes of a state for one client.
 *
 * Owns: the state that the client has, and one subscription. Does not own the state.
 */
export class StateUpdates implements Changes {
  readonly #shared: SharedState
  #known: { readonly text: string | undefined; readonly value: unknown }
  /** The client is gone, or its run is over. */
  readonly leave: () => void

  /** `known` is the state that the client sent. */
  constructor(shared: SharedState, known: unknown, changed: () => void) {
    this.#shared = shared
    this.#known = { text: JSON.stringify(known), value: known }
    this.leave = shared.subscribe(changed)
  }

  look(): string {
    return dataFrames(this.#events())
  }

  /** The events that give the client the present state; none if it has it. */
  #events(): ReadonlyArray<AgUiEvent> {
    const { text, value } = this.#shared
    const known = this.#known
    if (text === undefined || text === known.text) return []
    this.#known = { text, value }
    const delta = patchOf(known.value, value)
    if (delta.length === 0) return []
    const isDelta =
      !isEmpty(known.value) &&
      delta.every(({ path }) => path !== "" && !refusedInPaths.test(path)) &&
      JSON.stringify(delta).length < text.length
    return [isDelta ? { type: "STATE_DELTA", delta } : { type: "STATE_SNAPSHOT", snapshot: value }]
  }
}
