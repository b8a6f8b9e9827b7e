/**
 * The clients of a storm. Each has a chat of its own, sends inputs with ids through random nodes, and reads the chat.
 *
 * Owns: the requests. A request without a receipt is sent again under its id, through another node.
 */
import { setTimeout } from "node:timers/promises"
import { Message } from "@troupe/chat/messages"
import type { ChatView } from "@troupe/chat/view"
import { connect } from "@troupe/server/Client"
import { type Chance, pick } from "../soak/chance.ts"
import type { Delays } from "./delays.ts"
import type { Fleet } from "./fleet.ts"
import type { History } from "./history.ts"
import { answersIn, delegates, writes } from "./script.ts"

/** How long a client waits for one answer of a node, and between two tries, in milliseconds. */
const answerMs = 4_000
const pauseMs = 200

/** How long a turn may be interrupted before its client retries it. */
const interruptedMs = 2_000

/** How long one input may take in all, without the delay by the machine. */
const patienceMs = 60_000

interface Ended {
  readonly isOver: () => boolean
}

interface Reply {
  readonly outcome: string
  readonly body: unknown
}

/** What a client needs. */
interface ClientParts {
  readonly fleet: Fleet
  readonly history: History
  readonly delays: Delays
  readonly chance: Chance
}

export class StormClient {
  readonly chat: string
  readonly #fleet: Fleet
  readonly #history: History
  readonly #delays: Delays
  readonly #chance: Chance
  #interruptedAt: number | undefined
  #looked = ""

  constructor(chat: string, { fleet, history, delays, chance }: ClientParts) {
    this.chat = chat
    this.#fleet = fleet
    this.#history = history
    this.#delays = delays
    this.#chance = chance
  }

  /** Sends inputs until the storm is over, and one more. */
  async run({ isOver }: Ended): Promise<void> {
    for (let count = 1, isLast = false; !isLast; count++) {
      isLast = isOver()
      const inputs = this.#chance() < 0.3 ? [`${count}a`, `${count}b`] : [`${count}`]
      const sent = inputs.map((name) => ({
        id: `${this.chat}-${name}`,
        text: `${this.chat}-${name}${wishOf(this.#chance())}`
      }))
      for (const input of sent) await this.#send(input)
      for (const input of sent) await this.#answered(input)
    }
  }

  /** Follows the chat until the returned function is called. */
  read(): () => void {
    const link = connect({
      url: "http://storm",
      fetch: (url, init) => fetch(url.replace("http://storm", this.#base()), init),
      random: this.#chance
    }).chat(this.chat)
    let known: ReadonlyArray<string> = []
    let partial = ""
    const changed = (): void => {
      const { messages, partial: reply } = link.getState().view
      const texts = messages.map(Message.text)
      const from = texts.findIndex((text, index) => known[index] !== text)
      if (from !== -1 || texts.length < known.length) {
        const first = from === -1 ? texts.length : from
        this.#history.add({ type: "read", chat: this.chat, from: first, texts: texts.slice(first), partial })
        known = texts
      }
      partial = reply.text
    }
    const leave = link.subscribe(changed)
    return () => {
      changed()
      leave()
    }
  }

  async #send({ id, text }: { readonly id: string; readonly text: string }): Promise<void> {
    const { chat } = this
    this.#history.add({ type: "send", chat, id, text })
    await this.#until(async () => {
      const { outcome } = await this.#ask("POST", "/messages", { input: text, id })
      this.#history.add({ type: "sent", chat, id, outcome })
      if (outcome === "awaiting_approval") await this.#look()
      return isAcknowledged(outcome)
    })
  }

  async #answered({ id, text }: { readonly id: string; readonly text: string }): Promise<void> {
    await this.#until(async () => {
      const view = await this.#look()
      if (view === undefined || !isAnswered(view, text)) return false
      this.#history.add({ type: "answered", chat: this.chat, id })
      return true
    })
  }

  /** Reads the view through a random node, and does what the chat waits for. */
  async #look(): Promise<ChatView.ChatView | undefined> {
    const { outcome, body } = await this.#ask("GET", "")
    const view = outcome === "ok" ? (body as ChatView.ChatView) : undefined
    const looked = view === undefined ? outcome : `${view.phase}, ${view.status}`
    if (looked !== this.#looked) this.#history.add({ type: "looked", chat: this.chat, outcome: looked })
    this.#looked = looked
    if (view === undefined) return undefined
    await this.#continue(view)
    return view
  }

  /** Decides on calls whose outcome is not known, and retries a turn that no node resumes. */
  async #continue({ phase, status, approvals }: ChatView.ChatView): Promise<void> {
    const [waiting] = approvals
    const isInterrupted = phase === "interrupted" || (phase === "idle" && status === "error")
    if (!isInterrupted) this.#interruptedAt = undefined
    if (phase === "awaitingApproval" && waiting !== undefined) {
      const path = `/approvals/${encodeURIComponent(waiting.toolCall.id)}`
      const { outcome } = await this.#ask("POST", path, { type: "result", value: "looked after" })
      this.#history.add({ type: "asked", chat: this.chat, verb: "approve", outcome })
    } else if (isInterrupted) {
      this.#interruptedAt ??= Date.now()
      if (Date.now() - this.#interruptedAt < interruptedMs) return
      this.#interruptedAt = undefined
      const { outcome } = await this.#ask("POST", "/retry", {})
      this.#history.add({ type: "asked", chat: this.chat, verb: "retry", outcome })
    }
  }

  async #until(isDone: () => Promise<boolean>): Promise<void> {
    const until = this.#delays.now() + patienceMs
    while (this.#delays.now() < until && !(await isDone())) await setTimeout(pauseMs)
  }

  #base(): string {
    const [first, ...others] = this.#fleet.running
    return first === undefined ? "http://127.0.0.1:9" : pick(this.#chance, [first, ...others]).base
  }

  async #ask(method: string, path: string, body?: unknown): Promise<Reply> {
    try {
      const response = await fetch(`${this.#base()}/chats/${this.chat}${path}`, {
        method,
        headers: { "content-type": "application/json", accept: "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(answerMs)
      })
      const answer = (await response.json()) as {
        readonly status?: string
        readonly error?: { readonly code?: string }
      }
      if (!response.ok) return { outcome: answer.error?.code ?? String(response.status), body: answer }
      return { outcome: response.status === 202 ? (answer.status ?? "none") : "ok", body: answer }
    } catch (error) {
      return { outcome: error instanceof Error ? error.name : "failed", body: undefined }
    }
  }
}

const wishOf = (drawn: number): string => (drawn < 0.25 ? writes : drawn < 0.5 ? delegates : "")

/** Whether an outcome is the receipt of an input. */
export const isAcknowledged = (outcome: string): boolean => outcome === "delivered" || outcome === "pending"

/** Whether a view has the answer to an input, and the turn is over: only then is the answer stored. */
const isAnswered = ({ messages, phase }: ChatView.ChatView, input: string): boolean => {
  const at = messages.findIndex(
    (message) => message.role === "assistant" && answersIn(Message.text(message)).includes(input)
  )
  return at !== -1 && (phase === "idle" || at < messages.length - 1)
}
