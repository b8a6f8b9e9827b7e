/** What the store has of the chat of a storm. */
import type { Conversation, OpenCall } from "../../src/record/Conversation.ts"
import { openToolCalls } from "../../src/step/openCalls.ts"
import type { Commit } from "../../src/store/commitLog.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { said } from "./scripts.ts"

export class StormRecord {
  readonly #store: SessionStore

  constructor(store: SessionStore) {
    this.#store = store
  }

  get record(): Conversation | undefined {
    return this.#store.load("c") as Conversation | undefined
  }

  /** Whether the thread has the input. */
  hasDelivered(text: string): boolean {
    return this.record?.thread.messages.some((message) => message.role === "user" && said(message) === text) === true
  }

  /** Whether the store has the input, in its thread or as a row. */
  has(text: string): boolean {
    return this.hasDelivered(text) || this.record?.inbox?.some(({ message }) => said(message) === text) === true
  }

  /** Whether the answer was stored, even if a retry has dropped it since. */
  wasAnswered(text: string): boolean {
    const entries = this.#store.history("c", { limit: 1_000 }) as ReadonlyArray<Commit>
    return entries.some(({ messages }) => messages.some((one) => one.role === "assistant" && said(one) === text))
  }

  /** The state of a call, if its step is open. */
  stateOf(id: string): OpenCall["state"] | undefined {
    const { thread, open } = this.record ?? {}
    if (thread === undefined || open === undefined) return undefined
    return open.calls[openToolCalls({ thread, open }).findIndex((call) => call.id === id)]?.state
  }
}
