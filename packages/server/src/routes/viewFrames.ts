/**
 * A chat's view as a reader takes it: first all of it, then what changed since the reader took the last.
 *
 * Owns: the subscription to the chat, and the view that was sent last. Does not own the socket, which asks.
 *
 * FRAMES1. A frame is made when it is asked for: a slow reader skips what was between, and nothing waits for it.
 * FRAMES2. The frames a reader took lead to the view of the chat when the last of them was asked for.
 * FRAMES3. It is subscribed from the first question until it is left, or the chat is stopped.
 */
import type { ChatRef } from "@troupe/chat/chats"
import { ChatView } from "@troupe/chat/view"
import { allShown, type Shown } from "../access/index.ts"

/**
 * What a reader gets.
 *
 * - `view`: what changed; first, all of it
 * - `stopped`: the chat was stopped: no more will come
 */
export type ViewFrame = { readonly type: "view"; readonly patch: ChatView.ChatViewPatch } | { readonly type: "stopped" }

export class ViewFrames implements AsyncIterator<ViewFrame, undefined> {
  readonly #id: string
  readonly #chat: ChatRef.ChatRef
  readonly #shown: Shown["snapshot"]
  #watched: { readonly unsubscribe: () => void } | undefined
  #sent: ChatView.ChatView | undefined
  #stale = true
  #stopped = false
  #over = false
  #wake: (() => void) | undefined

  /** `id` is what the reader calls the chat; `shown` gives what the reader sees of a snapshot. Default: all of it. */
  constructor(id: string, chat: ChatRef.ChatRef, shown: Shown["snapshot"] = allShown.snapshot) {
    this.#id = id
    this.#chat = chat
    this.#shown = shown
  }

  async next(): Promise<IteratorResult<ViewFrame, undefined>> {
    this.#watched ??= this.#chat.subscribe({
      next: () => this.#changed(),
      complete: () => {
        this.#stopped = true
        this.#changed()
      }
    })
    while (!this.#over) {
      const change = this.#look()
      if (change !== undefined) return { done: false, value: { type: "view", patch: change } }
      if (this.#stopped) {
        this.#over = true
        return { done: false, value: { type: "stopped" } }
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<ViewFrame, undefined>> {
    this.#over = true
    this.#watched?.unsubscribe()
    this.#sent = undefined
    this.#wake?.()
    return { done: true, value: undefined }
  }

  #changed(): void {
    this.#stale = true
    this.#wake?.()
  }

  #look(): ChatView.ChatViewPatch | undefined {
    if (!this.#stale) return undefined
    this.#stale = false
    const view = ChatView.of(this.#id, this.#shown(this.#chat.getSnapshot()), this.#sent)
    const change = ChatView.patch(this.#sent, view)
    this.#sent = view
    return change
  }
}
