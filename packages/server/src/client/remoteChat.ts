/**
 * A link to a chat behind a server.
 *
 * Owns: the stream of its view, and the newest view. Does not own the chat. Calls the server's own routes.
 *
 * RCHAT1. There is a stream while there is a subscriber, and only then.
 * RCHAT2. The state is the same object until something changes.
 * RCHAT3. A chat whose stream was closed is followed again when a message is sent to it.
 */
import { ChatView } from "@troupe/chat/view"
import type { Store } from "@troupe/chat/store"
import {
  type ChatLink,
  checkedId,
  type LinkState,
  type LinkStatus,
  Listeners,
  pathPart,
  requestOf,
  type Verb,
  verbsBy
} from "../link/index.ts"
import { follow } from "./reconnectingStream.ts"
import { isRecord, type Remote } from "./remote.ts"

class RemoteChat implements Omit<ChatLink, Verb> {
  readonly id: string
  readonly #remote: Remote
  readonly #listeners = new Listeners(() => this.#end())
  #leave: (() => void) | undefined
  #state: LinkState

  constructor(remote: Remote, id: string) {
    this.id = id
    this.#remote = remote
    this.#state = { view: ChatView.apply(undefined, { rest: { id } }), status: "connecting", error: undefined }
  }

  readonly getState = (): LinkState => this.#state

  readonly subscribe = (changed: () => void): (() => void) => {
    const forget = this.#listeners.add(changed)
    if (this.#leave === undefined) this.#begin()
    return forget
  }

  #begin(): void {
    let path: string
    try {
      path = this.#path("/view")
    } catch (error) {
      this.#leave = () => {}
      this.#state = { ...this.#state, status: "closed", error: error as Error }
      return
    }
    if (this.#state.status !== "connecting") this.#state = { ...this.#state, status: "connecting", error: undefined }
    this.#leave = follow(this.#remote, path, {
      received: (frame, first) => this.#received(frame, first),
      became: (status, error) => this.#became(status, error)
    })
  }

  #end(): void {
    this.#leave?.()
    this.#leave = undefined
  }

  #received({ patch }: Readonly<Record<string, unknown>>, first: boolean): void {
    if (!isPatch(patch)) throw new TypeError("A frame is no change of a view")
    const before = first ? undefined : this.#state.view
    if (before !== undefined && (patch.messages?.kept ?? 0) > before.messages.length) {
      throw new TypeError("A change of a view does not fit the view")
    }
    const view = ChatView.apply(before, patch)
    this.#state = { ...this.#state, view: first ? keeping(this.#state.view, view) : view }
    if (!first) this.#listeners.notify()
  }

  #became(status: LinkStatus, error: Error | undefined): void {
    if (status === "closed") this.#leave = undefined
    this.#state = { ...this.#state, status, error }
    this.#listeners.notify()
  }

  #path(rest: string): string {
    return `/chats/${pathPart("id", checkedId(this.id))}${rest}`
  }

  /** Sends a request of a verb. */
  async say(path: string, body: unknown = {}): Promise<unknown> {
    const answer = await this.#remote.ask("POST", this.#path(path), body)
    if (this.#listeners.size > 0 && this.#leave === undefined) this.#begin()
    return answer
  }

  readonly send: ChatLink["send"] = async (input, { whenBusy, id, model, agent } = {}) => {
    await this.say("/messages", { input, whenBusy, id, model, agent })
  }

  readonly history: ChatLink["history"] = async ({ after, limit } = {}) => {
    const answer = await this.#remote.ask("GET", this.#path(`/history${query({ after, limit })}`))
    return (isRecord(answer) ? answer["commits"] : answer) as ReadonlyArray<Store.Commit>
  }

  readonly fork: ChatLink["fork"] = async ({ at, id } = {}) => {
    const answer = await this.#remote.ask("POST", this.#path("/fork"), { at, id })
    return String(isRecord(answer) ? answer["id"] : undefined)
  }

  readonly rewind: ChatLink["rewind"] = async (seq) => void (await this.say("/rewind", { seq }))
}

/** The link to a chat behind a server. */
export const remoteChat = (remote: Remote, id: string): ChatLink => {
  const chat = new RemoteChat(remote, id)
  return Object.assign(
    chat,
    verbsBy(async (verb, args) => {
      const { path, body } = requestOf(verb, ...args)
      await chat.say(path, body)
    })
  )
}

/** The query of the defined fields. */
export const query = (fields: Readonly<Record<string, string | number | undefined>>): string => {
  const there = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return there.length === 0 ? "" : `?${new URLSearchParams(there)}`
}

const isPatch = (value: unknown): value is ChatView.ChatViewPatch => isRecord(value)

/** A view that was loaded again. Messages equal to earlier ones are the same objects. */
const keeping = (before: ChatView.ChatView, after: ChatView.ChatView): ChatView.ChatView => {
  const change = ChatView.patch(before, after)
  return change === undefined ? before : ChatView.apply(before, change)
}
