/**
 * The clients of a storm. Each has a chat of its own, sends inputs with ids through random nodes, and reads the chat.
 *
 * Owns: the requests. A request without a receipt is sent again under its id, through another node.
 */
import { Message } from "@troupe/chat/messages"
import type { ChatView } from "@troupe/chat/view"
import { connect } from "@troupe/server/Client"
import { owner } from "../../bench/work/served.ts"
import { anyOf, type Chance } from "../chance.ts"
import { isAcknowledged } from "../check/conversations.ts"
import type { History } from "../check/history.ts"
import { until } from "../delays.ts"
import { answersIn, works } from "../workload.ts"
import type { Fleet } from "./fleet.ts"

/** How long a client waits for one answer of a node, and between two tries, in milliseconds. */
const answerMs = 4_000
const pauseMs = 200

/** How long a turn may be interrupted before its client retries it. */
const interruptedMs = 2_000

/** How long a reader may take for what was said last: it opens a stream again after at most ten seconds. */
const againMs = 15_000

/** How long one input may take in all, without the delay by the machine. */
const patienceMs = 60_000

type Input = Readonly<Record<"id" | "text", string>>

/** The client of a name. */
export const clientOf = (name: string, fleet: Fleet, history: History, chance: Chance) => {
  /** The id of the chat in the store. */
  const chat = `${owner}/${name}`
  let interruptedAt: number | undefined
  let lastLook = ""

  const note = (verb: string, outcome: string): void => history.add({ type: "asked", chat, verb, outcome })

  const base = (): string => anyOf(chance, fleet.running)?.base ?? "http://127.0.0.1:9"

  const ask = async (method: string, path: string, body?: unknown) => {
    try {
      const response = await fetch(`${base()}/chats/${name}${path}`, {
        method,
        headers: { "content-type": "application/json", accept: "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(answerMs)
      })
      const answer = (await response.json()) as {
        readonly status?: string
        readonly error?: { readonly code?: string }
      }
      if (!response.ok) return { outcome: answer.error?.code ?? String(response.status) }
      return { outcome: response.status === 202 ? (answer.status ?? "none") : "ok", answer }
    } catch (error) {
      return { outcome: error instanceof Error ? error.name : "failed" }
    }
  }

  /** Decides on calls whose outcome is not known, and retries a turn that no node resumes. */
  const goOn = async ({ phase, status, approvals: [waiting] }: ChatView.ChatView): Promise<void> => {
    const isInterrupted = phase === "interrupted" || (phase === "idle" && status === "error")
    interruptedAt = isInterrupted ? (interruptedAt ?? Date.now()) : undefined
    if (phase === "awaitingApproval" && waiting !== undefined) {
      const path = `/approvals/${encodeURIComponent(waiting.toolCall.id)}`
      note("approve", (await ask("POST", path, { type: "result", value: "looked after" })).outcome)
    } else if (interruptedAt !== undefined && Date.now() - interruptedAt >= interruptedMs) {
      interruptedAt = undefined
      note("retry", (await ask("POST", "/retry", {})).outcome)
    }
  }

  /** Reads the view through a random node, and does what the chat waits for. */
  const look = async (): Promise<ChatView.ChatView | undefined> => {
    const { outcome, answer } = await ask("GET", "")
    const view = outcome === "ok" ? (answer as ChatView.ChatView) : undefined
    const seen = view === undefined ? outcome : `${view.phase}, ${view.status}`
    if (seen !== lastLook) note("look", seen)
    lastLook = seen
    if (view !== undefined) await goOn(view)
    return view
  }

  const eventually = (isDone: () => Promise<boolean>): Promise<boolean> => until(isDone, patienceMs, pauseMs)

  const send = async ({ id, text }: Input): Promise<unknown> => {
    history.add({ type: "send", chat, id, text })
    return eventually(async () => {
      const { outcome } = await ask("POST", "/messages", { input: text, id })
      history.add({ type: "sent", chat, text, outcome })
      if (outcome === "awaiting_approval") await look()
      return isAcknowledged(outcome)
    })
  }

  /** Waits until a view has the answer, and the turn is over: only then is the answer stored. */
  const answered = ({ id, text }: Input): Promise<unknown> =>
    eventually(async () => {
      const { messages = [], phase } = (await look()) ?? {}
      const replies = messages.map((message) => (message.role === "assistant" ? Message.text(message) : ""))
      const at = replies.findIndex((reply) => answersIn(reply).includes(text))
      if (at === -1 || (phase !== "idle" && at === messages.length - 1)) return false
      history.add({ type: "answered", chat, id, text: replies[at] ?? "" })
      return true
    })

  return {
    /** Sends inputs until the storm is over, and one more. */
    run: async (isOver: () => boolean): Promise<void> => {
      for (let count = 1, isLast = false; !isLast; count++) {
        isLast = isOver()
        const inputs = (chance() < 0.3 ? [`${count}a`, `${count}b`] : [`${count}`]).map((number): Input => {
          const [id, drawn] = [`${name}-${number}`, chance()]
          return { id, text: `${id}${drawn < 0.25 ? works.writes : drawn < 0.5 ? works.delegates : works.talks}` }
        })
        for (const input of inputs) await send(input)
        for (const input of inputs) await answered(input)
      }
    },
    /** Follows the chat until the returned function is called, and its reader has as many messages as the chat. */
    read: (): (() => Promise<void>) => {
      const fetched = (url: string, init?: RequestInit) => fetch(url.replace("http://storm", base()), init)
      const link = connect({ url: "http://storm", fetch: fetched, random: chance }).chat(name)
      let known: ReadonlyArray<string> = []
      let partial = ""
      const changed = (): void => {
        const { messages, partial: reply } = link.getState().view
        const texts = messages.map(Message.text)
        const from = texts.findIndex((text, index) => known[index] !== text)
        if (from !== -1 || texts.length < known.length) {
          const first = from === -1 ? texts.length : from
          history.add({ type: "read", chat, from: first, texts: texts.slice(first), partial })
          known = texts
        }
        partial = reply.text
      }
      const leave = link.subscribe(changed)
      return async () => {
        const count = async () => (await look())?.messages.length ?? Infinity
        await until(async () => (await count()) <= link.getState().view.messages.length, againMs, pauseMs)
        changed()
        leave()
      }
    }
  }
}
