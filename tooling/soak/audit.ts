/**
 * Checks every stored record.
 *
 * AUDIT1. Every call of a stored thread has exactly one result, with an outcome, or belongs to the open step, or waits for
 *         the caller. A call that no record has any longer has not written.
 * AUDIT2. Every input is in a stored thread once.
 */
import type { Conversation, Store } from "@troupe/chat/store"
import type { Ledger } from "./ledger.ts"

interface Seen {
  readonly calls: Set<string>
  readonly answered: Set<string>
  readonly answeredByCaller: Set<string>
  pending: ReadonlyArray<string>
}

/** A store in memory that checks its records. */
export class AuditedStore implements Store.Store {
  readonly #ledger: Ledger
  readonly #hasWritten: (toolCallId: string) => boolean
  readonly #records = new Map<string, Conversation>()
  readonly #seen = new Map<string, Seen>()

  /** `hasWritten` returns whether the handler of a call that writes was started. */
  constructor(ledger: Ledger, hasWritten: (toolCallId: string) => boolean) {
    this.#ledger = ledger
    this.#hasWritten = hasWritten
  }

  load(id: string): Conversation | undefined {
    return this.#records.get(id)
  }

  save(record: Conversation): void {
    this.#records.set(record.id, record)
    this.#look(record)
  }

  delete(id: string): void {
    this.#records.delete(id)
  }

  /** Counts the calls of a finished chat, and forgets the chat. */
  retire(id: string): void {
    const seen = this.#seen.get(id)
    this.#seen.delete(id)
    this.#records.delete(id)
    if (seen === undefined) return
    this.#ledger.add("calls kept", seen.calls.size)
    this.#ledger.add("outcomes kept", seen.answered.size)
    this.#ledger.add("answers of the caller", seen.answeredByCaller.size)
    this.#ledger.add("calls pending", seen.pending.length)
  }

  retireAll(): void {
    for (const id of this.#seen.keys()) this.retire(id)
  }

  #look({ id, open: step, pendingToolCalls, thread }: Conversation): void {
    this.#ledger.add("saves")
    const seen: Seen = this.#seen.get(id) ?? {
      calls: new Set(),
      answered: new Set(),
      answeredByCaller: new Set(),
      pending: []
    }
    this.#seen.set(id, seen)
    const made = step === undefined ? undefined : thread.messages[step.at]
    const ofStep = made?.role === "assistant" ? (made.toolCalls ?? []) : []
    const undone = ofStep.filter((_, place) => step?.calls[place]?.state !== "done").map((call) => call.id)
    const ofCaller = pendingToolCalls.map((call) => call.id).filter((call) => !undone.includes(call))
    seen.pending = [...undone, ...ofCaller]
    const said = new Set<unknown>()
    /** The calls of the last assistant message without a result; a repeated one is two calls. */
    let open: Array<string> = []
    const unanswered: Array<string> = []
    for (const message of thread.messages) {
      if (message.role === "tool") {
        const at = open.indexOf(message.toolCallId)
        if (at === -1) this.#ledger.add("results without a call, or second ones")
        open.splice(at, at === -1 ? 0 : 1)
        const answers = message.outcome === undefined ? seen.answeredByCaller : seen.answered
        answers.add(message.toolCallId)
        continue
      }
      unanswered.push(...open)
      open = message.role === "assistant" ? (message.toolCalls ?? []).map((call) => call.id) : []
      for (const call of open) seen.calls.add(call)
      if (message.role !== "user") continue
      if (said.has(message.content)) this.#ledger.add("inputs twice in a thread")
      said.add(message.content)
    }
    unanswered.push(...open)
    for (const call of seen.pending) {
      const at = unanswered.indexOf(call)
      unanswered.splice(at, at === -1 ? 0 : 1)
    }
    this.#ledger.add("calls kept without a result", unanswered.length)
    this.#withdraw(seen)
  }

  /**
   * After a store that failed although it saved the record, the chat does not have some stored calls: none of them has
   * written.
   */
  #withdraw({ answered, answeredByCaller, calls, pending }: Seen): void {
    for (const call of calls) {
      if (answered.has(call) || answeredByCaller.has(call) || pending.includes(call)) continue
      calls.delete(call)
      this.#ledger.add("calls withdrawn")
      if (this.#hasWritten(call)) this.#ledger.add("calls withdrawn that had written")
    }
  }
}
