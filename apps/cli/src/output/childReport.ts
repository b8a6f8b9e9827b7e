/**
 * Shows the events of a sub-agent, set in below the turn: whole texts, and calls as they end.
 *
 * @module
 */
import type { Event } from "@troupe/chat/events"
import type { Display } from "./display.ts"
import type { Paint } from "./paint.ts"
import { finishedLine, shortened, visible } from "./toolLines.ts"

type ChildEvent = Extract<Event, { readonly type: "child_event" }>

/** The events of the children of one turn. */
export class ChildReport {
  readonly #display: Display
  readonly #paint: Paint
  /** The arguments of the calls of each child, by the chat and the call. */
  readonly #called = new Map<string, Extract<Event, { type: "tool_execution_started" }>>()

  constructor(display: Display, paint: Paint) {
    this.#display = display
    this.#paint = paint
  }

  /** Shows an event; the children of a child are set in further. */
  show({ chat, agent, event }: ChildEvent, indent = "  "): void {
    const name = this.#paint.accent(visible(agent))
    const line = (text: string): void => this.#display.line(`${indent}${name} ${text}`)
    switch (event.type) {
      case "text_completed":
        return line(shortened(event.text, 200))
      case "tool_execution_started":
        this.#called.set(`${chat} ${event.id}`, event)
        return
      case "tool_result_encoded": {
        const called = this.#called.get(`${chat} ${event.id}`)
        const call = { name: called?.name ?? event.id, arguments: called?.arguments ?? {}, content: event.content }
        return line(finishedLine({ ...call, elapsedMs: undefined }, this.#paint))
      }
      case "ask_user_requested":
        return line(`${this.#paint.accent("?")} ${this.#paint.strong(visible(event.question))}`)
      case "child_event":
        return this.show(event, `${indent}  `)
      default:
    }
  }
}
