/**
 * A chat's view for one reader: first the whole view, then the changes since the last frame that the reader took.
 *
 * Owns: the subscription to the chat, and the view that was sent last. Does not own the socket, which asks.
 *
 * FRAMES1. A frame is made on demand: a slow reader skips intermediate views, and nothing waits for the reader.
 * FRAMES2. The frames that a reader took add up to the chat's view at the time of the last request.
 * FRAMES3. It is subscribed from the first request until the reader leaves, or the chat is stopped or leaves.
 * FRAMES4. When the chat leaves, the last frame is `moved`, without a view: the page shows the last one until it has the
 *          view of the next start.
 */
import type { LocalChatRef } from "@troupe/chat"
import { ChatView } from "@troupe/chat/view"
import { allShown, type Shown } from "../access/index.ts"

/**
 * A frame for a reader.
 *
 * - `view`: the changes; first, the whole view
 * - `stopped`: the chat was stopped; this is the last frame
 * - `moved`: the chat has left this process; this is the last frame, and a reader that connects again gets its view
 */
export type ViewFrame =
  | { readonly type: "view"; readonly patch: ChatView.ChatViewPatch }
  | { readonly type: "stopped" | "moved" }

export class ViewFrames implements AsyncIterator<ViewFrame, undefined> {
  readonly #id: string
  readonly #chat: LocalChatRef
  readonly #shown: Shown["snapshot"]
  #watched: { readonly unsubscribe: () => void } | undefined
  #sent: ChatView.ChatView | undefined
  #stale = true
  #last: "stopped" | "moved" | undefined
  #over = false
  #wake: (() => void) | undefined

  /** `id` is the reader's id of the chat. `shown` filters a snapshot for the reader. Default: the whole snapshot. */
  constructor(id: string, chat: LocalChatRef, shown: Shown["snapshot"] = allShown.snapshot) {
    this.#id = id
    this.#chat = chat
    this.#shown = shown
  }

  async next(): Promise<IteratorResult<ViewFrame, undefined>> {
    this.#watched ??= this.#chat.subscribe({
      next: () => this.#changed(),
      complete: () => {
        this.#last = this.#chat.getSnapshot()?.context.phase === "moved" ? "moved" : "stopped"
        this.#changed()
      }
    })
    while (!this.#over) {
      const change = this.#last === "moved" ? undefined : this.#look()
      if (change !== undefined) return { done: false, value: { type: "view", patch: change } }
      if (this.#last !== undefined) {
        this.#over = true
        return { done: false, value: { type: this.#last } }
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
