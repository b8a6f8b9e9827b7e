/**
 * A link to a chat of this program.
 *
 * Owns: its subscription to the chat, and the newest view. Does not own the chat, which belongs to its Troupe.
 *
 * LOCAL1. The chat is watched while there is a subscriber, and only then.
 * LOCAL2. The state is the same object until the view, the status or the error changes.
 * LOCAL3. A stopped chat is watched again when a message is sent to it.
 * LOCAL4. A chat that has left is watched again at once: the subscribers keep its last view until the next start has one.
 *
 * The last subscriber leaves while the chat is being loaded:
 *   1. the first subscription creates a `Life`, and requests the chat from the Troupe.
 *   2. the last subscription ends: that life is over.
 *   3. the Troupe answers: a life that is over watches nothing.
 */
import type { LocalChatRef, RunningTroupe } from "@troupe/chat"
import type { ChatTurn } from "@troupe/chat/chats"
import { SessionError } from "@troupe/chat/errors"
import { ChatView } from "@troupe/chat/view"
import type { ChatLink, LinkState } from "./ChatLink.ts"
import { asError } from "../errors/index.ts"
import { Listeners } from "./listeners.ts"
import { taken } from "./inputAccepted.ts"
import { type Verb, verbsBy } from "./verbs.ts"

/** The state that the subscribers of one period share. */
interface Life {
  watched: { readonly unsubscribe: () => void } | undefined
}

class LocalChat implements Omit<ChatLink, Verb> {
  readonly id: string
  readonly #troupe: RunningTroupe
  readonly #listeners = new Listeners(() => this.#leave())
  #ref: LocalChatRef | undefined
  #life: Life | undefined
  #stale = false
  #state: LinkState

  constructor(troupe: RunningTroupe, id: string) {
    this.id = id
    this.#troupe = troupe
    this.#state = { view: ChatView.apply(undefined, { rest: { id } }), status: "connecting", error: undefined }
  }

  readonly getState = (): LinkState => {
    if (this.#stale || this.#life === undefined) this.#look()
    return this.#state
  }

  readonly subscribe = (changed: () => void): (() => void) => {
    const forget = this.#listeners.add(changed)
    if (this.#life === undefined) this.#begin()
    return forget
  }

  #begin(): void {
    const life: Life = { watched: undefined }
    this.#life = life
    this.#ask(life)
  }

  #ask(life: Life): void {
    this.#troupe.chat(this.id).then(
      (ref) => this.#watch(life, ref),
      (error: unknown) => this.#become(life, { ...this.#state, status: "closed", error: asError(error) })
    )
  }

  #leave(): void {
    this.#life?.watched?.unsubscribe()
    this.#life = undefined
  }

  #watch(life: Life, ref: LocalChatRef): void {
    this.#ref = ref
    if (this.#life !== life || life.watched !== undefined) return
    life.watched = ref.subscribe({ next: () => this.#changed(life), complete: () => this.#ended(life, ref) })
    this.#look()
    this.#become(life, { ...this.#state, status: "open", error: undefined })
  }

  /** The view is computed on demand. */
  #changed(life: Life): void {
    if (this.#life !== life) return
    this.#stale = true
    this.#listeners.notify()
  }

  #ended(life: Life, ref: LocalChatRef): void {
    life.watched = undefined
    if (ref.getSnapshot()?.context.phase === "moved") return this.#moved(life, ref)
    this.#look()
    const error = new SessionError("chat_stopped", `The chat ${this.id} was stopped; say something to go on`)
    this.#become(life, { ...this.#state, status: "closed", error })
  }

  /** LOCAL4 */
  #moved(life: Life, ref: LocalChatRef): void {
    if (this.#ref === ref) this.#ref = undefined
    const error = new SessionError("moved", `The chat ${this.id} has left this process; it is watched again`)
    this.#become(life, { ...this.#state, status: "reconnecting", error })
    if (this.#life === life) this.#ask(life)
  }

  #become(life: Life, state: LinkState): void {
    if (this.#life !== life) return
    this.#state = state
    this.#listeners.notify()
  }

  #look(): void {
    this.#stale = false
    const snapshot = this.#ref?.getSnapshot()
    if (this.#ref === undefined || snapshot?.context.phase === "moved") return
    const view = ChatView.of(this.id, snapshot, this.#state.view)
    if (view !== this.#state.view) this.#state = { ...this.#state, view }
  }

  async #use(agent?: string): Promise<LocalChatRef> {
    const ref = await this.#troupe.chat(this.id, { agent })
    if (this.#life !== undefined) this.#watch(this.#life, ref)
    return ref
  }

  readonly send: ChatLink["send"] = async (input, { agent, ...options } = {}) =>
    unread((await this.#use(agent)).send(input, options))

  /** Runs a verb; resolves when the chat has accepted it. */
  async verb(...[verb, args]: Parameters<Parameters<typeof verbsBy>[0]>): Promise<void> {
    const chat = await this.#use()
    const run: (...all: ReadonlyArray<unknown>) => unknown = chat[verb].bind(chat) as never
    const accepted = run(...args)
    await (Array.isArray(accepted) ? Promise.all(accepted.map(unread)) : isTurn(accepted) ? unread(accepted) : accepted)
  }

  readonly history: ChatLink["history"] = (options) => this.#troupe.history(this.id, options)

  readonly fork: ChatLink["fork"] = async (options) => (await this.#troupe.fork(this.id, options)).id

  readonly rewind: ChatLink["rewind"] = async (seq) => void (await this.#troupe.rewind(this.id, seq))
}

/** The link to a chat of this program. */
export const localChat = (troupe: RunningTroupe, id: string): ChatLink => {
  const chat = new LocalChat(troupe, id)
  return Object.assign(
    chat,
    verbsBy((verb, args) => chat.verb(verb, args))
  )
}

const isTurn = (value: unknown): value is ChatTurn => typeof value === "object" && value !== null && "receipt" in value

/** Waits until the chat accepts a turn's input. The turn's events are not read: the view shows them. */
const unread = async (turn: ChatTurn): Promise<void> => {
  await turn.return()
  await taken(turn)
}
