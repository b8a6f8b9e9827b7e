/**
 * A chat's view for one reader: first the whole view, then the changes since the last frame that the reader took.
 *
 * Owns: the subscription to the chat, and the view that was sent last. Does not own the socket, which asks.
 *
 * FRAMES1. A frame is made on demand: a slow reader skips intermediate views, and nothing waits for the reader.
 * FRAMES2. The frames that a reader took add up to the chat's view at the time of the last request.
 * FRAMES3. It is subscribed from the first request until the reader leaves or the chat is stopped.
 */
import type { ChatRef } from "@troupe/chat"
import { ChatView } from "@troupe/chat/view"
import { allShown, type Shown } from "../access/index.ts"

/**
 * A frame for a reader.
 *
 * - `view`: the changes; first, the whole view
 * - `stopped`: the chat was stopped; this is the last frame
 */
export type ViewFrame = { readonly type: "view"; readonly patch: ChatView.ChatViewPatch } | { readonly type: "stopped" }

export class ViewFrames implements AsyncIterator<ViewFrame, undefined> {
  readonly #id: string
  readonly #chat: ChatRef
  readonly #shown: Shown["snapshot"]
  #watched: { readonly unsubscribe: () => void } | undefined
  #sent: ChatView.ChatView | undefined
  #stale = true
  #stopped = false
  #over = false
  #wake: (() => void) | undefined

  /** `id` is the reader's id of the chat. `shown` filters a snapshot for the reader. Default: the whole snapshot. */
  constructor(id: string, chat: ChatRef, shown: Shown["snapshot"] = allShown.snapshot) {
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
